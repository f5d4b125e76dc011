import type { z } from 'zod';
import { type ApiErrorCode, ErrorBody } from '#protocol/errors.ts';
import {
  type DocumentedParameter,
  failures,
  jsonContent,
  parametersFrom,
  refTo,
  schemaOf,
  textContent,
} from '#protocol/openapi.ts';
import { bodyOf, parameter } from './document-parts.ts';
import { IncidentsQuery, ReportQuery, SeriesQuery, TargetQuery, TargetsQuery } from './history-queries.ts';
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
    externalDocs: { description: 'Checks over HTTP, if this service offers them.', url: '/openapi.json' },
    paths: {
      '/api/v1/targets': {
        get: read('getTargets', 'Every target as it is now', list('targets', 'Target'), TargetsQuery),
      },
      '/api/v1/targets/{name}': {
        get: read('getTarget', 'One target with its figures', one('target', 'TargetDetail'), TargetQuery, name),
      },
      '/api/v1/targets/{name}/series': {
        get: read('getSeries', 'Figures in steps', one('series', 'Series'), SeriesQuery, name),
      },
      '/api/v1/incidents': {
        get: read('getIncidents', 'Incidents, the newest first', list('incidents', 'Incident'), IncidentsQuery),
      },
      '/api/v1/incidents/{id}': {
        get: read(
          'getIncident',
          'One incident with all that is known of it',
          one('incident', 'IncidentDetail'),
          null,
          id,
        ),
      },
      '/api/v1/report': {
        get: read(
          'getReport',
          'The figures of every target',
          list('targets', 'TargetFigures', { total: ref('Figures') }),
          ReportQuery,
        ),
      },
      '/api/v1/events': { get: events },
      '/api/v1/openapi.json': {
        get: {
          operationId: 'getHistoryDocument',
          summary: 'This document',
          responses: {
            200: { description: 'OpenAPI 3.1.', headers: version, content: jsonContent({ type: 'object' }) },
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

const name = parameter('path', 'name', 'The name of the target.');
const id = parameter('path', 'id', 'The id of the incident, as lists have it; slashes may stand as they are.');

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
    parameter(
      'header',
      'last-event-id',
      'The `id` of the last event that was heard: what changed since comes first, as it is now.',
    ),
    parameter('query', 'target', 'Only events of this target.'),
    parameter('query', 'event', 'Only these events, and `beat`.', { enum: ['state', 'incident'] }),
    parameter('query', 'since', 'The same as `last-event-id`, for clients that cannot set a header.'),
  ],
  responses: {
    200: {
      description: 'Events, for 50 seconds; then the client comes back.',
      content: textContent('text/event-stream'),
    },
    ...failures(['bad_request', 'forbidden', 'too_large']),
  },
};

function read(
  operationId: string,
  summary: string,
  body: object,
  asked: z.ZodObject | null,
  ...path: readonly DocumentedParameter[]
) {
  const missing: readonly ApiErrorCode[] = path.length > 0 ? ['not_found'] : [];
  const hasVersion = parameter('header', 'if-none-match', 'The `etag` of the answer that the caller has.');
  return {
    operationId,
    summary,
    parameters: [...path, ...(asked === null ? [] : parametersFrom(asked, 'query')), hasVersion],
    responses: {
      200: { description: `${summary}.`, headers: version, content: jsonContent(body) },
      304: unchanged,
      ...failures(['bad_request', 'forbidden', ...missing, 'too_large', 'internal']),
    },
  };
}
