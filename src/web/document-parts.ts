import type { DocumentedParameter } from '#protocol/openapi.ts';

/** The body of an answer that went well. */
export const bodyOf = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  required: ['ok', ...Object.keys(properties)],
  properties: { ok: { const: 1 }, ...properties },
  additionalProperties: false,
});

/** A parameter that no schema reads. */
export const parameter = (
  place: DocumentedParameter['in'],
  name: string,
  description: string,
  schema: object = { type: 'string' },
): DocumentedParameter => ({ name, in: place, required: place === 'path', schema, description });
