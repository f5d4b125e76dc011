import { checkOf, interfaceTypeNames, startableTypeNames } from '#checks/index.ts';
import { type ApiErrorCode, apiErrors, ErrorBody } from '#protocol/errors.ts';
import { failures, jsonContent, parametersFrom, refTo, schemaOf, textContent } from '#protocol/openapi.ts';
import { CheckResultExtended, CheckStarted, NodeAddresses, NodeFault, NodeList } from '#protocol/shapes.ts';
import { ApiCheck, ApiCheckRequest, ApiLimits, ApiNodeList, StartParameters } from '#protocol/version-one.ts';

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

const resultsOf = (rows: readonly string[], description: string) => ({
  description,
  type: 'object',
  additionalProperties: {
    description: 'Null while the node works.',
    anyOf: [{ type: 'null' }, ...rows.map(refTo), refTo('NodeFault')],
  },
});

/** Everything under `components.schemas`. */
export function schemas(): Record<string, unknown> {
  const rows = types.flatMap((type) => {
    const { row } = checkOf(type);
    return row === null ? [] : [[rowName(type), row.shape] as const];
  });
  const extended = schemaOf(CheckResultExtended);
  const extendedOf = (command: object, rowNames: readonly string[]) => ({
    ...extended,
    properties: { ...extended.properties, command, results: resultsOf(rowNames, 'As in the plain result.') },
  });
  return {
    ...Object.fromEntries([...Object.entries(named), ...rows].map(([name, schema]) => [name, schemaOf(schema)])),
    ApiCheckRequest: schemaOf(ApiCheckRequest, 'input'),
    CheckResult: resultsOf(types.map(rowName), "Each node's result so far, under the node's identifier."),
    StartParameters: schemaOf(StartParameters, 'input'),
    CheckResultExtended: {
      description: extended.description,
      oneOf: [
        ...types.map((type) => extendedOf({ const: type }, [rowName(type)])),
        // Types without rows are started by /api/v1/checks alone, which has their results.
        extendedOf({ enum: startableTypeNames.filter((type) => checkOf(type).row === null) }, []),
      ],
    },
  };
}

export const startParameters = parametersFrom(StartParameters, 'query');

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
  return { description, headers: more, content: jsonContent(refTo(schema)) };
}

// What any call can fail with, whatever it is.
const common = ['bad_request', 'timeout', 'too_large', 'internal'] as const satisfies readonly ApiErrorCode[];

/** The responses of a call that fails, by status. */
export function failuresWith(...codes: readonly ApiErrorCode[]) {
  return failures([...new Set([...codes, ...common])], {
    hasBody: true,
    more: (status) => ({
      headers: failureHeaders[status] ?? {},
      content: withoutPage.has(status) ? {} : textContent('text/html'),
    }),
  });
}

// A browser gets a page, except before its headers were read.
const withoutPage: ReadonlySet<number> = new Set([apiErrors.timeout.status, 431]);

const failureHeaders: Readonly<Record<number, Headers>> = {
  401: headers.challenge,
  429: { ...headers.rate, ...headers.retry },
  503: headers.retry,
};

/** The identifier of a check in a path. */
export const byId = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'The request_id.',
};
