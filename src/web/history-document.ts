import { type ApiErrorCode, ErrorBody } from '#protocol/errors.ts';
import { bodyOf, failures, inPath, json, query, refTo, schemaOf } from './document-parts.ts';
import { linkPaths } from './link-document.ts';
import { operatorPaths } from './operator-document.ts';
import { operatorShapes } from './operator-shapes.ts';
import * as historyShapes from './history-shapes.ts';

const shapes = { ...historyShapes, ErrorBody, ...operatorShapes };

type ShapeName = keyof typeof shapes;

/** The OpenAPI 3.1 document of the API for programs on this machine. The public check API has its own. */
export function historyDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Watchpost',
      version: '1',
      description:
        'What is watched, how it was, and what operators do, for programs on the machine itself, without a proxy between; and what jobs and links in messages call, from anywhere.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    externalDocs: { description: 'Checks over HTTP, where they are served.', url: '/openapi.json' },
    paths: {
      '/api/v1/targets': {
        get: read('getTargets', 'Every target as it is now', list('targets', 'Target'), [label, ...page]),
      },
      '/api/v1/targets/{name}': {
        get: read('getTarget', 'One target with its figures', one('target', 'TargetDetail'), [name, ...span, node]),
      },
      '/api/v1/targets/{name}/series': {
        get: read('getSeries', 'Figures in steps', one('series', 'Series'), [name, ...span, node, step, points]),
      },
      '/api/v1/incidents': {
        get: read('getIncidents', 'Incidents, the newest first', list('incidents', 'Incident'), [
          ...span,
          ...page,
          query('target', { type: 'string' }, 'Those of this target.'),
          query('open', { type: 'boolean' }, 'Those that are open, or those that are over.'),
        ]),
      },
      '/api/v1/incidents/{id}': {
        get: read('getIncident', 'One incident with all that is known of it', one('incident', 'IncidentDetail'), [id]),
      },
      '/api/v1/report': {
        get: read(
          'getReport',
          'The figures of every target',
          list('targets', 'TargetFigures', { total: ref('Figures') }),
          [label, ...span, ...page],
        ),
      },
      '/api/v1/events': { get: events },
      '/api/v1/openapi.json': {
        get: {
          operationId: 'getHistoryDocument',
          summary: 'This document',
          responses: {
            200: { description: 'OpenAPI 3.1.', headers: version, content: json({ type: 'object' }) },
            304: unchanged,
            ...failures(['bad_request', 'forbidden', 'too_large']),
          },
        },
      },
      ...operatorPaths,
      ...linkPaths,
    },
    components: { schemas: Object.fromEntries(Object.entries(shapes).map(([key, shape]) => [key, schemaOf(shape)])) },
  };
}

const ref = (shape: ShapeName) => refTo(shape);
const one = (key: string, shape: ShapeName) => bodyOf({ [key]: ref(shape) });
const list = (key: string, shape: ShapeName, more: Readonly<Record<string, unknown>> = {}) =>
  bodyOf({
    [key]: { type: 'array', items: ref(shape) },
    next: { type: ['string', 'null'], description: 'What `after` has to be for the rest; null at the end.' },
    ...more,
  });

const moment = { type: 'string', format: 'date-time' };
const label = query('label', { type: 'string' }, 'Those that bear this label: `team:web`.');
const node = query('node', { type: 'string' }, 'What this node saw alone.');
const step = query('step', { type: 'string' }, 'The length of a step, such as `1h`; at most 5000 of them.');
const points = query(
  'points',
  { type: 'integer', minimum: 2, maximum: 2_000 },
  'How many steps at the most. Default: 300.',
);
const span = [
  query('from', moment, 'Where the span begins. Default: a day ago; in a report 30 days; for incidents without end.'),
  query('to', moment, 'Where it ends. Default: now.'),
];
const page = [
  query('limit', { type: 'integer', minimum: 1, maximum: 500 }, 'How many rows. Default: 100.'),
  query('after', { type: 'string', maxLength: 500 }, 'The `next` of the page before.'),
];
const name = inPath('name', 'The name of the target.');
const id = inPath('id', 'The id of the incident, as lists have it; slashes may stand as they are.');

const header = (description: string) => ({ description, schema: { type: 'string' } });
const version = { etag: header('The version of the answer.'), 'cache-control': header('`private, no-cache`') };
const unchanged = { description: 'The same as the version that the caller has.', headers: version };

const events = {
  operationId: 'getChanges',
  summary:
    'Server-sent events: `state` after every round of a target, `incident` when one is opened, changed or closed',
  description:
    'For all clients that may see the pages. The data of `state` is a `StateEvent`, that of `incident` an `IncidentEvent`, that of `beat` a `BeatEvent`: it comes first, and then again and again.',
  parameters: [
    {
      name: 'last-event-id',
      in: 'header',
      schema: { type: 'string' },
      description: 'The `id` of the last event that was heard: what changed since comes first, as it is now.',
    },
    {
      name: 'target',
      in: 'query',
      schema: { type: 'string' },
      description: 'Only events of this target.',
    },
    {
      name: 'event',
      in: 'query',
      schema: { enum: ['state', 'incident'] },
      description: 'Only these events, and `beat`.',
    },
    {
      name: 'since',
      in: 'query',
      schema: { type: 'string' },
      description: 'The same, for clients that cannot set a header.',
    },
  ],
  responses: {
    200: {
      description: 'Events, for 50 seconds; then the client comes back.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    ...failures(['forbidden', 'too_large']),
  },
};

function read(operationId: string, summary: string, body: object, parameters: readonly { readonly in: string }[]) {
  const isOne = parameters.some((parameter) => parameter.in === 'path');
  const missing: readonly ApiErrorCode[] = isOne ? ['not_found'] : [];
  const hasVersion = {
    name: 'if-none-match',
    in: 'header',
    schema: { type: 'string' },
    description: 'The `etag` of the answer that the caller has.',
  };
  return {
    operationId,
    summary,
    parameters: [...parameters, hasVersion],
    responses: {
      200: { description: `${summary}.`, headers: version, content: json(body) },
      304: unchanged,
      ...failures(['bad_request', 'forbidden', ...missing, 'too_large', 'internal']),
    },
  };
}
