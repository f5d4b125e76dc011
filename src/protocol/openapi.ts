import { z } from 'zod';
import { type ApiErrorCode, apiErrors } from './errors.ts';

// The parts that the OpenAPI 3.1 documents of the check service and of the monitor's API share.

/** The JSON schema (draft 2020-12) of a shape. `io` selects what its reader accepts or what it yields. */
export function schemaOf(shape: z.ZodType, io: 'input' | 'output' = 'output'): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(shape, { target: 'draft-2020-12', unrepresentable: 'any', io });
  return rest;
}

/** A reference to a schema of the document by its name. */
export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const jsonContent = (schema: unknown) => ({ 'application/json': { schema } });
export const textContent = (type: string) => ({ [type]: { schema: { type: 'string' } } });

export interface DocumentedParameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly schema: object;
  readonly description: string;
}

/** The parameters that a route reads with a schema, one for each of its keys. */
export function parametersFrom(shape: z.ZodObject, place: DocumentedParameter['in']): readonly DocumentedParameter[] {
  const { properties = {}, required = [] } = schemaOf(shape, 'input');
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...schema } = typeof property === 'boolean' ? {} : property;
    return { name, in: place, required: required.includes(name), schema, description };
  });
}

const headTooLarge = 431;

type Response = Readonly<Record<string, unknown>>;

interface FailureOptions {
  /** Whether the request has a body, which can be too large; otherwise only its head can. */
  readonly hasBody?: boolean;
  /** What responses with a status have besides. */
  readonly more?: (status: number) => { readonly headers?: object; readonly content?: object };
}

/** The responses of a call that fails, by status. */
export function failures(
  codes: readonly ApiErrorCode[],
  { hasBody = false, more = () => ({}) }: FailureOptions = {},
): Record<string, Response> {
  const byStatus = Map.groupBy(
    codes.filter((code) => hasBody || code !== 'too_large'),
    (code): number => apiErrors[code].status,
  );
  if (codes.includes('too_large')) byStatus.set(headTooLarge, ['too_large']);
  // If no node is online at all, no_nodes is not the fault of the request.
  if (codes.includes('no_nodes')) byStatus.set(503, [...(byStatus.get(503) ?? []), 'no_nodes']);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const { content, ...rest } = more(status);
      const description = group.map((code) => `\`${code}\`: ${apiErrors[code].meaning}`).join(' ');
      return [status, { description, ...rest, content: { ...jsonContent(refTo('ErrorBody')), ...content } }];
    }),
  );
}
