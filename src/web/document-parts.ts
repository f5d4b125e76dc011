import { z } from 'zod';
import { type ApiErrorCode, apiErrors } from '#protocol/errors.ts';

/** A reference to a shape of the document by its name. */
export const refTo = (shape: string) => ({ $ref: `#/components/schemas/${shape}` });

export const json = (schema: unknown) => ({ 'application/json': { schema } });

export function schemaOf(shape: z.ZodType, io: 'input' | 'output' = 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(shape, { target: 'draft-2020-12', io });
  return rest;
}

/** The body of an answer that went well. */
export const bodyOf = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  required: ['ok', ...Object.keys(properties)],
  properties: { ok: { const: 1 }, ...properties },
  additionalProperties: false,
});

export const query = (key: string, schema: object, description: string) => ({
  name: key,
  in: 'query',
  schema,
  description,
});

export const inPath = (key: string, description: string) => ({
  name: key,
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description,
});

/** By status; what is too large in a request that has no body is its head. */
export function failures(codes: readonly ApiErrorCode[], { hasBody = false } = {}): Record<string, unknown> {
  const statuses = codes.flatMap((code): readonly { readonly status: string; readonly code: ApiErrorCode }[] => {
    if (code !== 'too_large') return [{ status: String(apiErrors[code].status), code }];
    return [...(hasBody ? [{ status: '413', code }] : []), { status: '431', code }];
  });
  return Object.fromEntries(
    statuses.map(({ status, code }) => [
      status,
      { description: `\`${code}\`: ${apiErrors[code].meaning}`, content: json(refTo('ErrorBody')) },
    ]),
  );
}
