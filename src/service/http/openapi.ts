import { z } from 'zod';
import { checkOf, interfaceTypeNames, startableTypeNames } from '#checks/index.ts';
import type { ApiErrorCode } from '#protocol/errors.ts';
import { jsonContent, refTo, schemaOf, textContent } from '#protocol/openapi.ts';
import type { AccessRules } from '../access.ts';
import { withPreflights } from './openapi-preflights.ts';
import { reportCard } from './openapi-card.ts';
import { byId, failuresWith, headers, json, type SchemaName, schemas, startParameters } from './openapi-parts.ts';
import { longestWaitSeconds } from './results.ts';

interface DocumentOptions {
  readonly compatible: boolean;
  readonly access: Pick<AccessRules, 'origins'>;
}

/** The OpenAPI 3.1 document of everything that the check service answers, made from its own schemas. */
export function openApiDocument({ compatible, access }: DocumentOptions) {
  const paths = pathsOf(compatible);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Watchpost check service',
      version: '1',
      description:
        'Network checks from several nodes: start one, then fetch what each node saw. A method that a path does not have is a 405 with `allow`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths: access.origins.length === 0 ? paths : withPreflights(paths),
    components: { schemas: schemas(), securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function pathsOf(compatible: boolean) {
  return {
    ...Object.fromEntries(
      interfaceTypeNames.map((type) => [`/check-${type}`, startPath(type, checkOf(type).summary, compatible)]),
    ),
    '/check-result/{id}': both('Result', (operationId) =>
      read({ operationId, summary: 'The results so far', schema: 'CheckResult' }),
    ),
    '/check-result-extended/{id}': both('ExtendedResult', (operationId) =>
      read({ operationId, summary: 'The results so far, with what was checked', schema: 'CheckResultExtended' }),
    ),
    '/check-report/{id}': both('Report', report),
    '/check-report/{id}/card.png': reading('ReportCard', reportCard),
    '/check-result/{id}/events': { get: events },
    '/nodes/hosts': both('Nodes', (operationId) => list(operationId, 'NodeList')),
    '/nodes/ips': both('NodeAddresses', (operationId) => list(operationId, compatible ? 'NodeAddresses' : 'NodeList')),
    '/api/v1/checks': { post: startVersionOne },
    '/api/v1/checks/{id}': reading('Check', (operationId) =>
      read({ operationId, summary: 'A check with whole outcomes', schema: 'ApiCheck' }),
    ),
    '/api/v1/nodes': reading('NodeHealth', (operationId) => ({
      operationId,
      summary: 'All nodes and how they are',
      responses: { 200: json('ApiNodeList', 'All nodes, those that are offline too.'), ...failuresWith() },
    })),
    '/api/v1/limits': reading('Limits', limits),
    '/openapi.json': reading('Document', (operationId) => ({
      operationId,
      summary: 'This document',
      responses: { 200: { description: 'OpenAPI 3.1.', content: jsonContent({ type: 'object' }) }, ...failuresWith() },
    })),
    '/robots.txt': reading('Robots', (operationId) => ({
      operationId,
      summary: 'Keeps robots from starting checks',
      responses: { 200: { description: 'For robots.', content: textContent('text/plain') }, ...failuresWith() },
    })),
  };
}

interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly in: string }[];
  readonly summary: string;
  readonly responses: Readonly<Record<string, object>>;
}

/** The same operation for GET, HEAD and POST. */
function both(name: string, operation: (operationId: string) => Operation) {
  return { ...reading(name, operation), post: operation(`post${name}`) };
}

/** An operation for GET, and for HEAD without a body. */
function reading(name: string, operation: (operationId: string) => Operation) {
  const { summary, responses, ...rest } = operation(`head${name}`);
  const bare = Object.entries(responses).map(([status, response]) => [status, { ...response, content: undefined }]);
  const head = { ...rest, summary: `${summary} (the headers alone)`, responses: Object.fromEntries(bare) };
  return { get: operation(`get${name}`), head };
}

const wait = {
  name: 'wait',
  in: 'query',
  schema: { type: 'number', minimum: 0, maximum: longestWaitSeconds },
  description: 'Seconds to wait for all nodes before answering.',
};
const ifNoneMatch = {
  name: 'if-none-match',
  in: 'header',
  schema: { type: 'string' },
  description: 'The `etag` of the results that the caller has.',
};
const target = {
  name: 'target',
  in: 'query',
  schema: { type: 'string' },
  description: 'For the page: the target whose own check it was.',
};
const unchanged = { description: 'Nothing new since the version that the caller has.', headers: headers.version };

interface ReadRoute {
  readonly operationId: string;
  readonly summary: string;
  readonly schema: SchemaName;
}

function read({ operationId, summary, schema }: ReadRoute) {
  return {
    operationId,
    summary,
    parameters: [byId, wait, ifNoneMatch],
    responses: {
      200: json(schema, `${summary}.`, headers.version),
      304: unchanged,
      ...failuresWith('not_found', 'too_long'),
    },
  };
}

function report(operationId: string) {
  const summary = 'The report: a page for browsers, else the extended results';
  const plain = read({ operationId, summary, schema: 'CheckResultExtended' });
  const page = {
    description: `${summary}.`,
    headers: { ...headers.varying, etag: { ...headers.version.etag, required: false } },
    content: { ...jsonContent(refTo('CheckResultExtended')), ...textContent('text/html') },
  };
  return {
    ...plain,
    parameters: [...plain.parameters, target],
    responses: { ...plain.responses, 200: page },
  };
}

const events = {
  operationId: 'getEvents',
  summary: 'Server-sent events: "result" for each node as it finishes, then "done"',
  parameters: [
    byId,
    {
      name: 'last-event-id',
      in: 'header',
      schema: { type: 'string' },
      description: '`done` if the last event was received: nothing follows.',
    },
  ],
  responses: {
    200: { description: 'Events.', headers: headers.stream, content: textContent('text/event-stream') },
    204: { description: 'All results were sent before.' },
    ...failuresWith('not_found', 'too_long'),
  },
};

function list(operationId: string, schema: SchemaName) {
  return {
    operationId,
    summary: 'The nodes that take checks',
    responses: { 200: json(schema, 'The nodes that take checks.'), ...failuresWith() },
  };
}

function limits(operationId: string) {
  return {
    operationId,
    summary: 'What the caller may start, and how much of it is left',
    security: starters,
    responses: { 200: json('ApiLimits', 'The limits.', headers.rate), ...failuresWith('unauthorized', 'cross_site') },
  };
}

const starters = [{}, { token: [] }];
const startFailures = [
  'invalid_host',
  'invalid_type',
  'invalid_node',
  'unauthorized',
  'forbidden_target',
  'cross_site',
  'no_nodes',
  'limit_exceeded',
  'unavailable',
] as const satisfies readonly ApiErrorCode[];

function startPath(type: string, summary: string, compatible: boolean) {
  const name = `Check${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  // The public service uses this status for a limit too.
  const started = jsonContent(
    compatible ? { anyOf: [refTo('CheckStarted'), refTo('ErrorBody')] } : refTo('CheckStarted'),
  );
  const operation = {
    summary,
    security: starters,
    parameters: startParameters,
    responses: {
      200: {
        description: 'Started.',
        headers: { ...headers.rate, ...headers.varying, ...headers.fresh },
        content: started,
      },
      303: toReport,
      ...failuresWith(...startFailures),
    },
  };
  return {
    get: { operationId: `get${name}`, ...operation },
    post: {
      operationId: `post${name}`,
      ...operation,
      // What stands in the body need not stand in the query.
      parameters: startParameters.map((parameter) => ({ ...parameter, required: false })),
      requestBody: {
        content: Object.fromEntries(
          [...forms, 'application/json'].map((written) => [written, { schema: refTo('StartParameters') }]),
        ),
      },
    },
  };
}

const toReport = {
  description: 'Started; a browser is sent to the report.',
  headers: { ...headers.rate, ...headers.varying, ...headers.location },
};

const forms = ['application/x-www-form-urlencoded', 'multipart/form-data'];
const typed = schemaOf(
  z.object({
    type: z.enum(startableTypeNames),
    options: z
      .string()
      .meta({ contentMediaType: 'application/json', description: 'Options, as a JSON object.' })
      .optional(),
    location: z
      .array(z.string())
      .optional()
      .describe('Only nodes in one of these places, such as `country:DE`; repeated.'),
  }),
  'input',
);

const startVersionOne = {
  operationId: 'startCheck',
  summary: 'Starts a check',
  security: starters,
  requestBody: {
    required: true,
    content: {
      ...jsonContent(refTo('ApiCheckRequest')),
      ...Object.fromEntries(forms.map((form) => [form, { schema: { allOf: [refTo('StartParameters'), typed] } }])),
    },
  },
  responses: {
    201: json('ApiCheck', 'Started.', { ...headers.rate, ...headers.varying, ...headers.location }),
    303: toReport,
    ...failuresWith(...startFailures, 'invalid_option'),
  },
};
