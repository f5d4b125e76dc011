import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { PastDelivery } from '#history/incidents.ts';
import type { HistoryFigures, HistoryReader, TargetPage } from '#history/reader.ts';
import type { TimeSpan } from '#history/span.ts';
import type { Clock } from '#kernel/clock.ts';
import { dayMs } from '#kernel/units.ts';
import { errorBody } from '#protocol/errors.ts';
import { shownEvidence } from './evidence.ts';
import { IncidentsQuery, ReportQuery, SeriesQuery, TargetQuery, TargetsQuery } from './history-queries.ts';
import { onlyForOperators } from './local.ts';
import { readRequest, RequestError } from './request-input.ts';

export interface HistoryRoutesOptions {
  readonly history: HistoryReader;
  readonly clock: Clock;
}

/** The history for programs on this machine: targets, their series, incidents, reports, and the OpenAPI document. Every response has an ETag. */
export function historyRoutes({ history, clock }: HistoryRoutesOptions): FastifyPluginAsync {
  return async (app) => {
    onlyForOperators(app, 'bad_request');
    const spanOf: SpanOf = ({ from, to }, lengthMs) => {
      const end = to ?? clock.now();
      return orderedSpan({ from: from ?? end - lengthMs, to: end });
    };
    addTargets(app, history, spanOf);
    addRest(app, history, spanOf);
    app.get('/api/v1/openapi.json', async (request, reply) => {
      // Nothing else needs the shapes of the answers.
      const { historyDocument } = await import('./history-document.ts');
      return answer(request, reply, historyDocument());
    });
  };
}

// A span that ends before it begins would look like one in which nothing happened.
function orderedSpan(span: TimeSpan): TimeSpan {
  if (span.from <= span.to) return span;
  throw new RequestError(`from: must not be after the end of the span, ${new Date(span.to).toISOString()}`);
}

type SpanOf = (asked: { from?: number | undefined; to?: number | undefined }, lengthMs: number) => TimeSpan;
type NameRoute = { Params: { name: string } };

function addTargets(app: FastifyInstance, history: HistoryReader, spanOf: SpanOf): void {
  app.get('/api/v1/targets', async (request, reply) => {
    const { label: of, ...page } = readRequest(TargetsQuery, request.query);
    const { rows, next } = cutAt(page.limit, await history.now(of, oneMore(page)), ({ name }) => name);
    return answer(request, reply, { ok: 1, targets: rows.map((row) => timesOf(row)), next });
  });
  app.get<NameRoute>('/api/v1/targets/:name', async (request, reply) => {
    const { node, ...asked } = readRequest(TargetQuery, request.query);
    const of = { target: request.params.name };
    const [target] = await history.now(of);
    if (target === undefined) return reply.code(404).send(errorBody('not_found', `there is no target ${of.target}`));
    const span = spanOf(asked, dayMs);
    const [figures] = await history.byTarget({ ...span, of, node });
    const nodes = await history.byNode({ ...span, of });
    const rounds = await history.rounds(of.target, { limit: 20 });
    return answer(request, reply, { ok: 1, target: timesOf({ ...target, figures, nodes, rounds }) });
  });
  app.get<NameRoute>('/api/v1/targets/:name/series', async (request, reply) => {
    const { node, step: stepMs, points, ...asked } = readRequest(SeriesQuery, request.query);
    const span = spanOf(asked, dayMs);
    if (stepMs !== undefined && (span.to - span.from) / stepMs > 5_000)
      return reply
        .code(400)
        .send(errorBody('bad_request', 'more than 5000 steps: ask for a longer step or a shorter span'));
    const of = { target: request.params.name };
    const series = await history.series({ ...span, of, node, stepMs, points });
    const isKnown = series.parts.some(hasAnswers) || (await history.now(of)).length > 0;
    if (!isKnown)
      return reply
        .code(404)
        .send(errorBody('not_found', `there is no target ${of.target}, and there is no history of one in this span`));
    return answer(request, reply, { ok: 1, series: timesOf(series) });
  });
}

// A target that is no longer monitored has its history.
const hasAnswers = ({ answers: { up, down, unknown } }: HistoryFigures) => up + down + unknown > 0;

function addRest(app: FastifyInstance, history: HistoryReader, spanOf: SpanOf): void {
  app.get('/api/v1/incidents', async (request, reply) => {
    const { open: isOpen, from, to, ...query } = readRequest(IncidentsQuery, request.query);
    if (from !== undefined && to !== undefined) orderedSpan({ from, to });
    const span = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const { incidents, next } = await history.incidents({ ...query, ...span, isOpen });
    return answer(request, reply, { ok: 1, incidents: incidents.map((one) => timesOf(one)), next });
  });
  app.get<{ Params: { '*': string } }>('/api/v1/incidents/*', async (request, reply) => {
    const incident = await history.incident(request.params['*']);
    if (incident === null) return reply.code(404).send(errorBody('not_found', 'there is no such incident'));
    const { evidence, wording: _, ...rest } = incident;
    const shown = timesOf({ ...rest, deliveries: incident.deliveries.map(deliveryOf) });
    return answer(request, reply, { ok: 1, incident: { ...Object(shown), evidence: shownEvidence(evidence) } });
  });
  app.get('/api/v1/report', async (request, reply) => {
    const { label: of, from, to, ...page } = readRequest(ReportQuery, request.query);
    const span = spanOf({ from, to }, 30 * dayMs);
    const figures = await history.byTarget({ ...span, of }, oneMore(page));
    const { rows, next } = cutAt(page.limit, figures, ({ target }) => target);
    const total: HistoryFigures = await history.figures({ ...span, of });
    return answer(request, reply, { ok: 1, total: timesOf(total), targets: rows.map((row) => timesOf(row)), next });
  });
}

// The row after a page shows that there is another page.
const oneMore = ({ after, limit }: TargetPage): TargetPage => ({ after, limit: limit + 1 });

function cutAt<Row>(limit: number, rows: readonly Row[], nameOf: (row: Row) => string) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last !== undefined ? nameOf(last) : null };
}

// Without what only the outbox needs to know.
function deliveryOf({ id, kind, number, channel, recipient, state, attempts, lastError, ...times }: PastDelivery) {
  const { createdAt, settledAt } = times;
  return { id, kind, number, channel, recipient, state, createdAt, settledAt, attempts, lastError };
}

const moments = new Set([
  'from',
  'to',
  'since',
  'dueAt',
  'startedAt',
  'openedAt',
  'endedAt',
  'lateAt',
  'at',
  'createdAt',
  'settledAt',
]);

// Why there is no uptime yet is for people.
const isShown = ([name]: readonly [string, unknown]) => name !== 'verdictsFrom';

/** A value of the reader as JSON: moments as ISO times, lengths in seconds, names with underscores. */
function timesOf(value: unknown, key = ''): unknown {
  if (typeof value === 'number' && moments.has(key)) return new Date(value).toISOString();
  if (typeof value === 'number' && (key.endsWith('Ms') || key === 'time')) return value / 1_000;
  if (Array.isArray(value)) return value.map((one: unknown) => timesOf(one));
  if (typeof value !== 'object' || value === null) return value;
  if (key === 'labels') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(isShown)
      .map(([name, one]) => [
        name.replace(/Ms$/, 'Seconds').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        timesOf(one, key === 'time' ? 'time' : name),
      ]),
  );
}

function answer(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const text = JSON.stringify(body);
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known.includes(tag) || known.includes('*')) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}
