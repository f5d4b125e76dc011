import { z } from 'zod';
import { checkOf, interfaceTypeNames } from '#checks/index.ts';
import { type ApiErrorCode, apiErrors, ErrorBody } from '#protocol/errors.ts';
import { CheckStarted, NodeAddresses, NodeFault, NodeList } from '#protocol/shapes.ts';
import { ApiCheck, ApiCheckRequest, ApiLimits, ApiNodeList } from '#protocol/version-one.ts';

// What operations of the API document are made of.

const named = { CheckStarted, NodeList, NodeAddresses, ErrorBody, NodeFault, ApiCheck, ApiLimits, ApiNodeList };

const rowName = (type: string) => `${type.charAt(0).toUpperCase()}${type.slice(1)}Row`;
const types = interfaceTypeNames;

export type SchemaName =
  | keyof typeof named
  | 'ApiCheckRequest'
  | 'CheckResult'
  | 'CheckResultExtended'
  | 'StartParameters';

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const resultsOf = (rows: readonly string[], description: string) => ({
  description,
  type: 'object',
  additionalProperties: {
    description: 'Null while the node works.',
    anyOf: [{ type: 'null' }, ...rows.map(ref), ref('NodeFault')],
  },
});

const created = { type: 'integer', minimum: 0, description: 'When the check was started, in seconds since 1970.' };

/** Everything under `components.schemas`. */
export function schemas(): Record<string, unknown> {
  const rows = types.flatMap((type) => {
    const { row } = checkOf(type);
    return row === null ? [] : [[rowName(type), row.shape] as const];
  });
  return {
    ...Object.fromEntries([...Object.entries(named), ...rows].map(([name, schema]) => [name, schemaOf(schema)])),
    ApiCheckRequest: schemaOf(ApiCheckRequest, 'input'),
    CheckResult: resultsOf(types.map(rowName), "Each node's result so far, under the node's identifier."),
    CheckResultExtended: {
      description: 'The results with what was checked. `port` is there for check types that record it apart.',
      oneOf: types.map((type) => ({
        type: 'object',
        required: ['command', 'created', 'host', 'results'],
        properties: {
          command: { const: type },
          created,
          host: { type: 'string', description: 'The target as it was recorded.' },
          port: { type: 'string' },
          results: resultsOf([rowName(type)], 'As in the plain result.'),
        },
      })),
    },
    StartParameters: {
      description: 'What to check, from where.',
      type: 'object',
      required: ['host'],
      properties: Object.fromEntries(
        startParameters.map(({ name, schema, description }) => [name, { ...schema, description }]),
      ),
    },
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', unrepresentable: 'any', io });
  return rest;
}

export const startParameters = [
  {
    name: 'host',
    in: 'query',
    required: true,
    schema: { type: 'string' },
    description: 'A name, an address, `name:port` or `scheme://name[:port][/path]`.',
  },
  {
    name: 'max_nodes',
    in: 'query',
    schema: { type: 'integer', minimum: 0 },
    description: 'The most nodes to ask; 0 or absent: as many as allowed.',
  },
  {
    name: 'node',
    in: 'query',
    schema: { type: 'array', items: { type: 'string' } },
    explode: true,
    description: 'A node to ask, instead of max_nodes; may be repeated, also as `node[]`.',
  },
] as const;

const header = (description: string, type = 'string') => ({ description, schema: { type } });

/** Answers bear these headers. */
export const headers = {
  rate: {
    'x-ratelimit-limit': header('How many nodes this client may ask at once.', 'integer'),
    'x-ratelimit-remaining': header('How many it may ask now.', 'integer'),
    'x-ratelimit-reset': header('Seconds until it has its whole allowance again.', 'integer'),
    'x-ratelimit-resource': header('Which limit: `checks`, or `domain` for a `domain` check of a stranger.'),
  },
  version: {
    etag: header('The version of the results: the same until another node has finished.'),
    'cache-control': header('`immutable` once all nodes have finished.'),
  },
  varying: { vary: header('`accept`: a browser that accepts HTML is answered in another way.') },
  fresh: { 'cache-control': header('`no-store`.') },
  stream: {
    'cache-control': header('`no-store`.'),
    'x-accel-buffering': header('`no`: a proxy passes each event on.'),
  },
  location: { location: header('Where the check is.') },
  preflight: {
    'access-control-allow-origin': header('The origin, or `*`.'),
    'access-control-allow-methods': header('The methods that it may use.'),
    'access-control-allow-headers': header('The headers that it may send.'),
    'access-control-max-age': header('For how many seconds this holds.', 'integer'),
  },
  retry: { 'retry-after': header('Seconds until the same call may succeed.', 'integer') },
  challenge: { 'www-authenticate': header('How to send a token.') },
} as const;

type Headers = Readonly<Record<string, unknown>>;

/** A successful response with JSON. */
export function json(schema: SchemaName, description: string, more: Headers = {}) {
  return { description, headers: more, content: jsonContent(ref(schema)) };
}

export function jsonContent(schema: unknown) {
  return { 'application/json': { schema } };
}

// What any call can fail with, whatever it is.
const common = ['bad_request', 'timeout', 'too_large', 'internal'] as const satisfies readonly ApiErrorCode[];
const headTooLarge = 431;

/** The responses of a call that fails, by status. */
export function failures(...codes: readonly ApiErrorCode[]): Record<string, unknown> {
  const all = [...new Set([...codes, ...common])];
  const byStatus = Map.groupBy(all, (code): number => apiErrors[code].status);
  byStatus.set(headTooLarge, ['too_large']);
  // If no node is online at all, no_nodes is not the fault of the request.
  if (codes.includes('no_nodes')) byStatus.set(503, [...(byStatus.get(503) ?? []), 'no_nodes']);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\`: ${apiErrors[code].meaning}`).join(' '),
        headers: failureHeaders[status] ?? {},
        content: { ...jsonContent(ref('ErrorBody')), ...(withoutPage.has(status) ? {} : page) },
      },
    ]),
  );
}

// A browser gets a page, except before its headers were read.
const page = { 'text/html': { schema: { type: 'string' } } };
const withoutPage: ReadonlySet<number> = new Set([apiErrors.timeout.status, headTooLarge]);

const failureHeaders: Readonly<Record<number, Headers>> = {
  401: headers.challenge,
  429: { ...headers.rate, ...headers.retry },
  503: headers.retry,
};
