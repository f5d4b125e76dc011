import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { NodeInfo } from '#checks/index.ts';
import { endsWithin } from '#kernel/clock.ts';
import { errorBody } from '#protocol/errors.ts';
import type { LiveTarget } from '../state/board.ts';
import type { Stream } from '../streams.ts';
import { type Actions, addActions } from './actions.ts';
import { roundsOf } from './history-values.ts';
import { incidentContent, incidentSentence, type IncidentValue } from './incident.ts';
import { addDevices, type DevicePages } from './device-routes.ts';
import { devicesTexts } from './devices-texts.ts';
import { addEditing } from './edit-routes.ts';
import { addTargetEditing } from './edit-target-routes.ts';
import { eventViewOf } from './event-filter.ts';
import { onlyReaders } from './guard.ts';
import { eventsOf, incidentHref } from './links.ts';
import { missing, send } from './page-reply.ts';
import { postMortemOf } from './post-mortem.ts';
import { html, nothing, shapeOf, state } from './markup.ts';
import type { Frame } from './layout.ts';
import { filtered, filterOf, type OverviewFilter, queryOf, sortOf, viewOf, withPast } from './overview-filter.ts';
import { drawRows, overviewRest, overviewSentence, overviewTop } from './overview.ts';
import type { ShownOverload } from './overload.ts';
import { createSharedDrawing } from './shared-drawing.ts';
import type { Assets } from '../assets/assets.ts';
import { type ReloadEntry, reloadsContent, reloadTitle } from './reloads.ts';
import { incidentList } from './target.ts';
import { addTarget, patienceMs, type TargetPages } from './target-routes.ts';
import { texts } from './texts.ts';

export interface MonitorPages extends TargetPages {
  readonly assets: Assets;
  readonly nodes: () => readonly { readonly info: NodeInfo; readonly online: boolean }[];
  /** The attempts to reload the configuration since the start, the newest first. */
  readonly reloads: () => readonly ReloadEntry[];
  /** What is overloaded at this moment. */
  readonly overload: () => ShownOverload;
  /** The silence that holds for a target now. */
  readonly silenceOf: (target: string) => IncidentValue['silence'];
  readonly actions: Actions;
  readonly devices: DevicePages;
  readonly overviewStream: Stream;
  /** Has the stream go on from these rows, unless it has viewers, who have others. */
  readonly rememberRows: (targets: readonly LiveTarget[]) => Promise<void>;
}

const incidentsShown = 200;

/** The pages about what is watched. */
export function monitorRoutes(pages: MonitorPages): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', onlyReaders(pages.access, pages.site));
    addOverview(app, pages);
    addTarget(app, pages);
    addIncidents(app, pages);
    addStreams(app, pages);
    addActions(app, pages);
    addDevices(app, pages);
    addReloads(app, pages);
    if (pages.edits === null) return;
    addEditing(app, { ...pages, edits: pages.edits });
    addTargetEditing(app, { ...pages, edits: pages.edits });
  };
}

function addOverview(app: FastifyInstance, pages: MonitorPages): void {
  const { site, assets, board, past, clock, access } = pages;
  const share = createSharedDrawing<Pick<Frame, 'content' | 'since' | 'again'>>(clock);

  // However old the rest is, this is of now.
  function drawTop() {
    const value = {
      now: clock.now(),
      targets: board.targets(),
      incidents: board.openIncidents(),
      overload: pages.overload(),
    };
    return { title: overviewSentence(value), content: overviewTop(value) };
  }

  async function drawRest(filter: OverviewFilter, begins: () => void) {
    // What changes while the page is drawn comes as an event.
    const since = pages.overviewStream.version;
    const targets = board.targets();
    const pastOf = (target: LiveTarget) => past.of(target);
    // Of ten thousand targets a page begins with a hundred: these come first.
    const before = filtered(targets, filter, pastOf);
    const first = withPast(before, filter);
    const wanted = first.length === 0 ? [] : [...new Set([...first, ...targets])];
    await past.want(
      wanted.map(({ name }) => name),
      patienceMs,
    );
    begins();
    // No other order depends on what was looked up.
    const shown = sortOf(filter) === 'uptime' ? filtered(targets, filter, pastOf) : before;
    const value = {
      now: clock.now(),
      targets,
      shown,
      incidents: board.openIncidents(),
      nodes: pages.nodes(),
      past: pastOf,
      filter,
      canAdd: pages.edits !== null,
      reload: pages.reloads()[0] ?? null,
      canPush: pages.devices.recipients().length > 0,
    };
    await drawRows(value, clock);
    const content = overviewRest(value, assets);
    // On a starved machine that takes seconds. What it has not come to when a viewer follows is sent whole.
    await endsWithin(pages.rememberRows(targets), clock, patienceMs);
    return { content, since, again: withPast(shown, filter).some((one) => past.of(one) === null) };
  }

  app.get('/', async (request, reply) => {
    const filter = filterOf(request.query);
    const query = queryOf(filter);
    const rest = await share(query, async (begins) => drawRest(filter, begins));
    const top = drawTop();
    return send(
      reply,
      site.page({
        user: access.userOf(request),
        ...rest,
        title: top.title,
        content: html`${top.content}\n${rest.content}`,
        place: 'overview',
        live: `/live/overview?${viewOf(filter)}`,
        refresh: 30,
      }),
    );
  });
}

function addReloads(app: FastifyInstance, { site, reloads, edits, access }: MonitorPages): void {
  app.get('/changes', (request, reply) => {
    const user = access.userOf(request);
    const canUndo = edits !== null && user !== null && edits.canUndo;
    const content = reloadsContent(reloads(), { mayReadProblems: access.mayAct(request), canUndo });
    return send(reply, site.page({ user, title: reloadTitle, place: 'overview', content, refresh: 30, every: 10 }));
  });
}

function addIncidents(app: FastifyInstance, pages: MonitorPages): void {
  const { site, reader, board, silenceOf, clock, access, devices } = pages;
  app.get('/incidents', async (request, reply) => {
    const { incidents: open } = await reader.incidents({ isOpen: true, limit: incidentsShown });
    const { incidents: over } = await reader.incidents({ isOpen: false, limit: incidentsShown });
    const shapes = board.openIncidents().map(({ wording }) => shapeOf(wording.word));
    const count = shapes.length;
    const shape = (['down', 'warning', 'unknown'] as const).find((one) => shapes.includes(one)) ?? 'up';
    const sentence = texts.incident.list(count);
    const content = html`<div data-part="head"><h1>${state(shape, '')} ${sentence}</h1></div><div data-part="list">${incidentList([...open, ...over], clock.now())}</div>${devices.recipients().length === 0 ? nothing : html`<p><a href="/devices">${devicesTexts.link}</a></p>`}`;
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
    overviewStream.open(request, reply, viewOf(filterOf(request.query))),
  );
  app.get('/api/v1/events', { exposeHeadRoute: false }, (request, reply) => {
    const read = eventViewOf(request.query);
    if ('problem' in read) return reply.code(400).send(errorBody('bad_request', read.problem));
    return changeStream.open(request, reply, read.view);
  });
  app.addHook('preClose', async () => {
    overviewStream[Symbol.dispose]();
    changeStream[Symbol.dispose]();
  });
}
