import type { z } from 'zod';
import { type ApiErrorCode, apiErrors } from '#protocol/errors.ts';
import { failures, jsonContent, parametersFrom, refTo, schemaOf } from '#protocol/openapi.ts';
import { AcknowledgeBody, EvidenceBody, PlanQuery, SilenceBody } from './control.ts';
import { DeliveryQuery, RetryBody } from './deliveries.ts';
import { bodyOf, parameter } from './document-parts.ts';
import { ExclusionBody } from './exclusions.ts';
import { NoteBody } from './notes.ts';
import { SubscriberQuery, SubscriberRemoval } from './subscribers.ts';
import type { operatorShapes } from './operator-shapes.ts';
import { StatesQuery } from './states.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const one = (shape: keyof typeof operatorShapes) => refTo(shape);
const listOf = (shape: keyof typeof operatorShapes) => ({ type: 'array', items: refTo(shape) });

interface DocumentedRoute {
  readonly operationId: string;
  readonly summary: string;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly object[];
  /** The body that is taken, if one is. */
  readonly takes?: z.ZodType;
  readonly fails?: readonly ApiErrorCode[];
  /** Failures that tell more than others. */
  readonly more?: Readonly<Record<string, object>>;
}

const always = ['forbidden', 'too_large', 'internal'] as const satisfies readonly ApiErrorCode[];

function get({ operationId, summary, answer, parameters = [], fails = [] }: DocumentedRoute) {
  const answered = { 200: { description: `${summary}.`, content: jsonContent(bodyOf(answer)) } };
  return { get: { operationId, summary, parameters, responses: { ...answered, ...failures([...fails, ...always]) } } };
}

function post({ operationId, summary, answer, parameters = [], takes, fails = [], more = {} }: DocumentedRoute) {
  const body =
    takes === undefined ? {} : { requestBody: { required: true, content: jsonContent(schemaOf(takes, 'input')) } };
  const failed = failures(['bad_request', 'unsupported_media_type', ...fails, ...always], { hasBody: true });
  const answered = { 200: { description: `${summary}.`, content: jsonContent(bodyOf(answer)) } };
  return { post: { operationId, summary, parameters, ...body, responses: { ...answered, ...failed, ...more } } };
}

const failureWith = (code: ApiErrorCode, properties: Readonly<Record<string, unknown>>) => ({
  [apiErrors[code].status]: {
    description: `\`${code}\`: ${apiErrors[code].meaning}`,
    content: jsonContent({
      type: 'object',
      required: ['ok', 'error', 'message', ...Object.keys(properties)],
      properties: { ok: { const: 0 }, error: { const: code }, message: text, ...properties },
      additionalProperties: false,
    }),
  },
});

const health = (operationId: string, summary: string, answer: DocumentedRoute['answer'], failed: object) => ({
  get: {
    operationId,
    summary,
    parameters: [],
    responses: {
      200: { description: `${summary}.`, content: jsonContent(bodyOf(answer)) },
      ...failed,
      ...failures(['forbidden', 'too_large']),
    },
  },
});

const parts = { stuck: texts, parts: { type: 'object', additionalProperties: one('Part') } };
const metricFormats = ['text/plain', 'application/openmetrics-text', 'application/vnd.google.protobuf'];

/** The paths of what operators and Prometheus call. */
export const operatorPaths = {
  '/-/reload': post({
    operationId: 'reload',
    summary: 'Loads the configuration anew',
    answer: { added: texts, changed: texts, removed: texts, needsRestart: texts },
    more: failureWith('config_invalid', { problems: texts }),
  }),
  '/-/silences': {
    ...get({
      operationId: 'getSilences',
      summary: 'Silences that are on or to come',
      answer: { silences: listOf('Silence') },
    }),
    ...post({
      operationId: 'addSilence',
      summary: 'Suppresses notifications of some targets for a time',
      answer: { silence: one('Silence') },
      takes: SilenceBody,
      fails: ['not_found'],
    }),
  },
  '/-/silences/{id}/expire': post({
    operationId: 'expireSilence',
    summary: 'Ends a silence',
    answer: { silence: one('Silence') },
    parameters: [parameter('path', 'id', 'The id of the silence.')],
    fails: ['not_found'],
  }),
  '/-/incidents': get({
    operationId: 'getOpenIncidents',
    summary: 'Open incidents with their notifications',
    answer: { incidents: listOf('OpenIncident') },
  }),
  '/-/incidents/acknowledge': post({
    operationId: 'acknowledge',
    summary: 'Acknowledges an incident',
    answer: { incident: one('OpenIncident') },
    takes: AcknowledgeBody,
    fails: ['not_found'],
  }),
  '/-/evidence': post({
    operationId: 'gatherEvidence',
    summary: 'Has nodes gather evidence about a target now',
    answer: {
      target: { type: 'string' },
      incident: { type: ['string', 'null'] },
      evidence: listOf('EvidenceGathering'),
    },
    takes: EvidenceBody,
    fails: ['not_found'],
  }),
  '/-/plan': get({
    operationId: 'getPlan',
    summary: 'What the configuration in force says, for comparing',
    answer: { outline: { type: 'object' }, incidents: listOf('OpenIncident') },
    parameters: parametersFrom(PlanQuery, 'query'),
    fails: ['bad_request'],
  }),
  '/-/states': get({
    operationId: 'getStates',
    summary: 'The states of targets that changed',
    answer: { version: { type: 'integer' }, names: texts, states: listOf('State') },
    parameters: parametersFrom(StatesQuery, 'query'),
    fails: ['bad_request'],
  }),
  '/-/notes': {
    ...get({ operationId: 'getNotes', summary: 'What is said on status pages', answer: { notes: listOf('Note') } }),
    ...post({
      operationId: 'postNote',
      summary: 'Says something on a status page',
      answer: { note: one('Note') },
      takes: NoteBody,
      fails: ['not_found'],
    }),
  },
  '/-/notes/{id}/remove': post({
    operationId: 'removeNote',
    summary: 'Takes a note down',
    answer: { note: one('Note') },
    parameters: [parameter('path', 'id', 'The id of the note.')],
    fails: ['not_found'],
  }),
  '/-/exclusions': {
    ...get({
      operationId: 'getExclusions',
      summary: 'Time that does not count for uptime',
      answer: { exclusions: listOf('Exclusion') },
    }),
    ...post({
      operationId: 'addExclusion',
      summary: 'Excludes past time from uptime',
      answer: { exclusion: one('Exclusion') },
      takes: ExclusionBody,
      fails: ['not_found'],
    }),
  },
  '/-/exclusions/{id}/remove': post({
    operationId: 'removeExclusion',
    summary: 'Has excluded time count again',
    answer: { exclusion: one('Exclusion') },
    parameters: [parameter('path', 'id', 'The id of the exclusion.')],
    fails: ['not_found'],
  }),
  '/-/subscribers': get({
    operationId: 'getSubscribers',
    summary: 'Who gets mails about status pages',
    answer: { subscribers: listOf('Subscriber') },
    parameters: parametersFrom(SubscriberQuery, 'query'),
    fails: ['bad_request'],
  }),
  '/-/subscribers/remove': post({
    operationId: 'removeSubscribers',
    summary: 'Removes a subscriber, by id or address',
    answer: { subscribers: listOf('Subscriber') },
    takes: SubscriberRemoval,
    fails: ['not_found'],
  }),
  '/-/deliveries': get({
    operationId: 'getDeliveries',
    summary: 'Notifications with their state, the newest first',
    answer: { deliveries: listOf('Delivery') },
    parameters: parametersFrom(DeliveryQuery, 'query'),
    fails: ['bad_request'],
  }),
  '/-/deliveries/retry': post({
    operationId: 'retryDeliveries',
    summary: 'Tries dead deliveries again',
    answer: { retried: { type: 'integer' } },
    takes: RetryBody,
  }),
  '/healthz': health('getHealth', 'Whether its parts make progress', parts, failureWith('stuck', parts)),
  '/readyz': health('getReadiness', 'Whether it takes requests', {}, failureWith('not_ready', { reasons: texts })),
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      summary: 'Figures for Prometheus, in the format that it asks for',
      parameters: [],
      responses: {
        200: {
          description: 'The figures.',
          content: Object.fromEntries(metricFormats.map((type) => [type, { schema: text }])),
        },
        ...failures(['forbidden', 'too_large']),
      },
    },
  },
};
