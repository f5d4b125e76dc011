import { z } from 'zod';
import { checkOf, interfaceTypeNames } from '#checks/index.ts';
import { type ApiErrorCode, apiErrors, ErrorBody } from '#protocol/errors.ts';
import { CheckResult, CheckResultExtended, CheckStarted, NodeList } from '#protocol/shapes.ts';
import { ApiCheck, ApiCheckRequest, ApiNodeList } from '#protocol/version-one.ts';

const schemas = {
  CheckStarted,
  CheckResult,
  CheckResultExtended,
  NodeList,
  ErrorBody,
  ApiCheck,
  ApiCheckRequest,
  ApiNodeList,
};
type SchemaName = keyof typeof schemas;

/** The OpenAPI 3.1 document of everything that the check service answers, made from its own schemas. */
export function openApiDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Watchpost check service',
      version: '1',
      description: 'Network checks from several nodes: start one, then fetch what each node saw.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths: {
      ...Object.fromEntries(
        interfaceTypeNames.map((type) => [`/check-${type}`, startPath(type, checkOf(type).summary)]),
      ),
      '/check-result/{id}': { get: read('getResult', 'The results so far', 'CheckResult', [...byId, wait]) },
      '/check-result-extended/{id}': {
        get: read('getExtendedResult', 'The results so far, with what was checked', 'CheckResultExtended', [
          ...byId,
          wait,
        ]),
      },
      '/check-result/{id}/events': {
        get: {
          operationId: 'getEvents',
          summary: 'Server-sent events: "result" for each node as it finishes, then "done"',
          parameters: byId,
          responses: {
            200: { description: 'Events', content: { 'text/event-stream': { schema: { type: 'string' } } } },
            ...failures('not_found'),
          },
        },
      },
      '/check-report/{id}': {
        get: {
          ...read(
            'getReport',
            'The report: a page for browsers, else the extended results',
            'CheckResultExtended',
            byId,
          ),
          security: [],
        },
      },
      '/nodes/hosts': { get: read('getNodes', 'The nodes that take checks', 'NodeList') },
      '/nodes/ips': { get: read('getNodeAddresses', 'The nodes that take checks', 'NodeList') },
      '/api/v1/checks': {
        post: {
          operationId: 'startCheck',
          summary: 'Starts a check',
          security: starters,
          requestBody: { required: true, content: jsonContent('ApiCheckRequest') },
          responses: {
            201: { description: 'Started', content: jsonContent('ApiCheck') },
            ...failures(...startFailures),
          },
        },
      },
      '/api/v1/checks/{id}': { get: read('getCheck', 'A check with whole outcomes', 'ApiCheck', [...byId, wait]) },
      '/api/v1/nodes': { get: read('getNodeHealth', 'All nodes and how they are', 'ApiNodeList') },
    },
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaOf(schema)])),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const byId = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, description: 'The request_id.' }];
const wait = {
  name: 'wait',
  in: 'query',
  schema: { type: 'number', minimum: 0, maximum: 25 },
  description: 'Seconds to wait for all nodes before answering.',
};
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

function startPath(type: string, summary: string) {
  const start = (method: string) => ({
    operationId: `${method}Check${type.charAt(0).toUpperCase()}${type.slice(1)}`,
    summary,
    security: starters,
    parameters: [
      { name: 'host', in: 'query', required: true, schema: { type: 'string' }, description: 'The target.' },
      {
        name: 'max_nodes',
        in: 'query',
        schema: { type: 'integer', minimum: 0 },
        description: 'The most nodes to ask.',
      },
      {
        name: 'node',
        in: 'query',
        schema: { type: 'array', items: { type: 'string' } },
        explode: true,
        description: 'A node to ask; may be repeated.',
      },
    ],
    responses: { 200: { description: 'Started', content: jsonContent('CheckStarted') }, ...failures(...startFailures) },
  });
  return { get: start('get'), post: start('post') };
}

function read(operationId: string, summary: string, schema: SchemaName, parameters: readonly object[] = []) {
  return {
    operationId,
    summary,
    parameters,
    responses: {
      200: { description: summary, content: jsonContent(schema) },
      ...(parameters.length === 0 ? {} : failures('not_found')),
    },
  };
}

function failures(...codes: readonly ApiErrorCode[]): Record<string, unknown> {
  const byStatus = Map.groupBy(codes, (code) => apiErrors[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\`: ${apiErrors[code].meaning}`).join(' '),
        content: jsonContent('ErrorBody'),
      },
    ]),
  );
}

function jsonContent(schema: SchemaName) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

function schemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'output',
    target: 'draft-2020-12',
    unrepresentable: 'any',
  });
  return rest;
}
