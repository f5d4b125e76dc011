import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { CheckTypeName, NodeInfo } from '#checks/index.ts';
import type { TargetChange } from '#history/changes.ts';
import type { HistoryReader } from '#history/reader.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AccessControl } from '../access/access.ts';
import type { Board, LiveTarget } from '../state/board.ts';
import type { Stream } from '../streams.ts';
import { type Actions, addActions } from './actions.ts';
import { type ChartSpan, chosenSpan, namedSpan, spans, usualSpan } from './chart-span.ts';
import { chartOf, figuresTable, roundsOf, seriesJson } from './history-values.ts';
import type { PastKeeper } from './past.ts';
import { incidentContent, incidentSentence, type IncidentValue } from './incident.ts';
import { addEditing, type TargetEdits } from './edit-routes.ts';
import { eventViewOf } from './event-filter.ts';
import { onlyReaders } from './guard.ts';
import { incidentHref } from './links.ts';
import { postMortemOf } from './post-mortem.ts';
import { html, shapeOf, state } from './markup.ts';
import type { Frame } from './layout.ts';
import { filterOf, type OverviewFilter, queryOf } from './overview-filter.ts';
import { drawRows, overviewContent, overviewSentence } from './overview.ts';
import { createSharedDrawing } from './shared-drawing.ts';
import type { Assets } from '../assets/assets.ts';
import type { PageSet } from './site.ts';
import { incidentList, targetContent, targetSentence } from './target.ts';
import { texts } from './texts.ts';

export interface MonitorPages {
  readonly site: PageSet;
  readonly assets: Assets;
  readonly reader: HistoryReader;
  readonly board: Board;
  readonly past: PastKeeper;
  /** What changed about a target, the newest first. */
  readonly changesOf: (target: string) => readonly TargetChange[];
  readonly nodes: () => readonly { readonly info: NodeInfo; readonly online: boolean }[];
  /** The silence that holds for a target now. */
  readonly silenceOf: (target: string) => IncidentValue['silence'];
  readonly actions: Actions;
  readonly access: AccessControl;
  /** Null if the configuration cannot be changed on pages. */
  readonly edits: TargetEdits | null;
  /** Whether targets of this type can be checked besides their schedule. */
  readonly canCheck: (type: CheckTypeName) => boolean;
  readonly overviewStream: Stream;
  /** The rows that the stream goes on from. */
  readonly rememberRows: (targets: readonly LiveTarget[]) => void;
  readonly changeStream: Stream;
  readonly clock: Clock;
}

const Moment = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .optional()
  .catch(undefined);
const TargetQuery = z.object({ span: z.enum(spans).optional().catch(undefined), from: Moment, to: Moment });

async function spanOf(query: unknown, target: LiveTarget, { reader, clock }: MonitorPages): Promise<ChartSpan> {
  const now = clock.now();
  const { span, from, to } = TargetQuery.parse(query);
  if (from !== undefined && to !== undefined) return chosenSpan({ from, to }, now);
  return namedSpan(span ?? (await usualSpan(reader, target, now)), now);
}

const eventsOf = (target: string) => `/api/v1/events?target=${encodeURIComponent(target)}`;

const roundsShown = 60;
const incidentsShown = 200;
const scriptPoints = 300;
// How long the first page after a start waits for what was.
const patienceMs = 150;

/** The pages about what is watched. */
export function monitorRoutes(pages: MonitorPages): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', onlyReaders(pages.access, pages.site));
    addOverview(app, pages);
    addTarget(app, pages);
    addIncidents(app, pages);
    addStreams(app, pages);
    addActions(app, pages);
    if (pages.edits !== null) addEditing(app, { ...pages, edits: pages.edits });
  };
}

function addOverview(app: FastifyInstance, pages: MonitorPages): void {
  const { site, assets, board, past, clock, access } = pages;
  const share = createSharedDrawing<Pick<Frame, 'title' | 'content' | 'since' | 'again'>>(clock);

  async function draw(filter: OverviewFilter) {
    // What changes while the page is drawn comes as an event.
    const since = pages.overviewStream.version;
    const targets = board.targets();
    await past.want(
      targets.map(({ name }) => name),
      patienceMs,
    );
    const value = {
      now: clock.now(),
      targets,
      incidents: board.openIncidents(),
      nodes: pages.nodes(),
      past: (target: LiveTarget) => past.of(target),
      filter,
      canAdd: pages.edits !== null,
    };
    await drawRows(value);
    const content = overviewContent(value, assets);
    // Otherwise they are as its viewers have them.
    if (pages.overviewStream.viewers === 0) pages.rememberRows(targets);
    return { title: overviewSentence(value), content, since, again: targets.some((one) => past.of(one) === null) };
  }

  app.get('/', async (request, reply) => {
    const filter = filterOf(request.query);
    const query = queryOf(filter);
    const drawn = await share(query, async () => draw(filter));
    return send(
      reply,
      site.page({
        user: access.userOf(request),
        ...drawn,
        place: 'overview',
        live: `/live/overview?${query}`,
        refresh: 30,
      }),
    );
  });
}

function addTarget(app: FastifyInstance, pages: MonitorPages): void {
  const { site, reader, board, past, clock, access } = pages;
  app.get<{ Params: { name: string } }>('/targets/:name', async (request, reply) => {
    const target = board.target(request.params.name);
    if (target === null) return missing(reply, site, `there is no target ${request.params.name}`);
    const now = clock.now();
    const span = await spanOf(request.query, target, pages);
    const { name } = target;
    await past.want([name], patienceMs);
    const { incidents } = await reader.incidents({ target: name, limit: 20 });
    const value = {
      now,
      target,
      span,
      chart: await chartOf(pages, target, span),
      changes: pages.changesOf(name),
      figures: await figuresTable(reader, name, span, now),
      rounds: await reader.rounds(name, { limit: roundsShown }),
      incidents,
      past: past.of(target),
      mayCheck: pages.canCheck(target.check) && access.mayAct(request),
      mayEdit: pages.edits !== null && access.userOf(request) !== null,
    };
    return send(
      reply,
      site.page({
        user: access.userOf(request),
        title: targetSentence(value),
        place: 'overview',
        content: targetContent(value),
        live: eventsOf(name),
        liveOf: name,
        again: value.past === null,
        since: pages.changeStream.version,
        refresh: 30,
        scripts: ['uplot.js'],
        modules: ['chart.js'],
        styles: ['uplot.css'],
      }),
    );
  });

  app.get<{ Params: { name: string } }>('/targets/:name/series', async (request, reply) => {
    const target = board.target(request.params.name);
    if (target === null) return missing(reply, site, `there is no target ${request.params.name}`);
    const span = await spanOf(request.query, target, pages);
    return reply.send(seriesJson(await chartOf(pages, target, span, scriptPoints)));
  });
}

function addIncidents(app: FastifyInstance, pages: MonitorPages): void {
  const { site, reader, board, silenceOf, clock, access } = pages;
  app.get('/incidents', async (request, reply) => {
    const { incidents: open } = await reader.incidents({ isOpen: true, limit: incidentsShown });
    const { incidents: over } = await reader.incidents({ isOpen: false, limit: incidentsShown });
    const shapes = board.openIncidents().map(({ wording }) => shapeOf(wording.word));
    const count = shapes.length;
    const shape = (['down', 'warning', 'unknown'] as const).find((one) => shapes.includes(one)) ?? 'up';
    const sentence = texts.incident.list(count);
    const content = html`<div data-part="head"><h1>${state(shape, '')} ${sentence}</h1></div><div data-part="list">${incidentList([...open, ...over], clock.now())}</div>`;
    return send(
      reply,
      site.page({
        user: access.userOf(request),
        title: sentence,
        place: 'incidents',
        content,
        live: '/api/v1/events?event=incident',
        since: pages.changeStream.version,
        refresh: 30,
      }),
    );
  });

  app.get<{ Params: { '*': string } }>('/incidents/*', async (request, reply) => {
    const path = request.params['*'];
    const id = path.replace(/\.md$/, '');
    const incident = await reader.incident(id);
    if (incident !== null && path !== id) {
      const url = `${request.protocol}://${request.host}${incidentHref(id)}`;
      const text = postMortemOf({ incident, now: clock.now() }, url);
      return reply.header('cache-control', 'private, no-cache').type('text/markdown; charset=utf-8').send(text);
    }
    if (incident === null) return missing(reply, site, `there is no incident ${id}`);
    const until = incident.endedAt ?? clock.now();
    const rounds = await roundsOf(reader, incident, until);
    const silence = incident.endedAt === null ? silenceOf(incident.target) : null;
    const value = { now: clock.now(), incident, rounds, silence, mayAct: access.mayAct(request) };
    const title = incidentSentence(value);
    // What is still to be notified of its end is seen too.
    const isOver = incident.endedAt !== null && incident.deliveries.every(({ state: one }) => one !== 'pending');
    const live = isOver ? null : eventsOf(incident.target);
    return send(
      reply,
      site.page({
        user: access.userOf(request),
        title,
        place: 'incidents',
        content: incidentContent(value),
        live,
        liveOf: incident.target,
        since: pages.changeStream.version,
        refresh: live === null ? null : 30,
      }),
    );
  });
}

function addStreams(app: FastifyInstance, { overviewStream, changeStream }: MonitorPages): void {
  app.get('/live/overview', { exposeHeadRoute: false }, (request, reply) =>
    overviewStream.open(request, reply, queryOf(filterOf(request.query))),
  );
  app.get('/api/v1/events', { exposeHeadRoute: false }, (request, reply) =>
    changeStream.open(request, reply, eventViewOf(request.query)),
  );
  app.addHook('preClose', async () => {
    overviewStream[Symbol.dispose]();
    changeStream[Symbol.dispose]();
  });
}

interface DownloadReply {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const send = (reply: FastifyReply, { headers, body }: DownloadReply) => reply.headers(headers).send(body);

const missing = (reply: FastifyReply, site: PageSet, message: string) =>
  send(reply.code(404), site.problem({ status: 404, code: 'not_found', message }));
