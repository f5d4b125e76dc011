import { type CheckSpec, type CheckTypeName, startableTypeNames } from '#checks/index.ts';
import type { CheckRunner } from '#compose/checking.ts';
import type { Config } from '#config/config.ts';
import type { TargetEditor } from '#config/edit/edit-targets.ts';
import type { ReloadReport, ReloadResult } from '#config/apply/reload.ts';
import type { ChangeStore } from '#history/changes.ts';
import type { MeasurementStore } from '#history/measurements.ts';
import type { HistoryReader } from '#history/reader.ts';
import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import { withOwnLanguages } from '#languages/languages.ts';
import type { Controls } from '#monitor/controls.ts';
import type { MaintenanceWindow } from '#monitor/suppress/maintenance.ts';
import { type Silence, silenceAt } from '#monitor/suppress/silence.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { type AccessControl, createAccess } from '#web/access/access.ts';
import { createSessions, type Sessions, type SessionStore } from '#web/access/sessions.ts';
import type { Assets } from '#web/assets/assets.ts';
import { inRanges } from '#web/connections.ts';
import { isMailAddress } from '#channels/index.ts';
import type { Subscriptions } from '#subscriptions/subscriptions.ts';
import type { Board } from '#web/state/board.ts';
import { targetsByNode } from '#web/state/states.ts';
import { overviewEvents, stateEvents } from '#web/live/events.ts';
import { followBoard } from '#web/live/follow-board.ts';
import { statusEvents } from '#web/live/status-events.ts';
import { createNotes, type Notes, type NoteStore } from '#web/state/notes.ts';
import { createStream } from '#web/streams.ts';
import type { HubsLine } from '#web/pages/hubs-texts.ts';
import { createPastKeeper, type PastKeeper } from '#web/pages/past.ts';
import { mapPart } from '#web/pages/overview.ts';
import { monitorRoutes } from '#web/pages/monitor-routes.ts';
import { type Docs, openDocs } from '#web/pages/docs.ts';
import type { DevicePages } from '#web/pages/device-routes.ts';
import type { TargetEdits } from '#web/pages/edit-routes.ts';
import { boardOf } from './board.ts';
import { freshFor } from './fresh-for.ts';
import { shownOverload, watchOverload } from './shown-overload.ts';
import { createMaintenanceAhead } from './maintenance-ahead.ts';
import { createEdits } from './edits.ts';
import { pageRoutes } from '#web/pages/routes.ts';
import { readStatus } from '#web/pages/status-value.ts';
import { createPastOutages } from '#web/pages/status-past.ts';
import { statusRoutes } from '#web/pages/status-routes.ts';
import { createSite } from '#web/pages/site.ts';

// The part of compose.ts that is about pages: what they are about, and where it comes from.

export interface PagesOver {
  readonly checking: CheckRunner;
  readonly assets: Assets;
  readonly inForce: () => Config;
  readonly openIncidents: () => readonly Incident[];
  readonly history: HistoryReader;
  readonly controls: () => Controls;
  readonly checkNow: (spec: CheckSpec) => Promise<string>;
  /** What changes the configuration's files; null if nothing does. */
  readonly editor: TargetEditor | null;
  readonly reload: (cause: string) => Promise<ReloadResult>;
  readonly reloads: () => readonly ReloadReport[];
  readonly store: NoteStore & SessionStore & Pick<ChangeStore, 'changesOf'> & Pick<MeasurementStore, 'measured'>;
  readonly subscriptions: Subscriptions;
  readonly devices: DevicePages;
  readonly silences: () => readonly Silence[];
  /** The line about the hubs; null if this is the only one. */
  readonly hubsLine: (() => HubsLine) | null;
  /** The share of a node's answers within the last hour that contradicted most others; null if none could be compared. */
  readonly disagreementOf: (node: string) => number | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What pages show, and the pages that a configuration has: what is shown goes on where they change. */
export function openPages(over: PagesOver) {
  const { history, clock, log } = over;
  const board = boardOf(over);
  const past = createPastKeeper(history, clock, (error) => log.error({ err: error }, 'cannot read history'));
  const { store, random, inForce } = over;
  const failed = (error: unknown) => log.error({ err: error }, 'cannot store sessions; they end with the program');
  const sessions = createSessions({ store, clock, random, failed });
  const notes = createNotes({ store, clock, random, pages: () => targetsByPage(inForce()) });
  const kept = { docs: openDocs(), board, past, sessions, notes, ahead: createMaintenanceAhead(over) };
  const watching = watchOverload(
    () => shownOverload(over.checking),
    clock,
    () => board.touch(),
  );
  return {
    board,
    notes,
    /** What was counts differently from now on. */
    renewPast: () => past.renew(),
    // What is known from before the start, until the first rounds tell more.
    seed: async (signal: AbortSignal) => board.seed(await history.now(undefined, undefined, signal)),
    of: (config: Config) => pagesOf(config, over, kept),
    async [Symbol.asyncDispose]() {
      watching[Symbol.dispose]();
      await past[Symbol.asyncDispose]();
    },
  };
}

const targetsByPage = ({ pages }: Config) =>
  new Map(Object.entries(pages).map(([name, { targets }]) => [name, Object.keys(targets)] as const));

interface PageState {
  readonly docs: Docs;
  readonly board: Board;
  readonly past: PastKeeper;
  readonly sessions: Sessions;
  readonly notes: Notes;
  readonly ahead: () => readonly MaintenanceWindow[];
}

function pagesOf(config: Config, over: PagesOver, { docs, board, past, sessions, notes, ahead }: PageState) {
  const { checking, assets } = over;
  const { runs } = checking;
  const { ownService } = config;
  const service =
    ownService === null || runs === null
      ? null
      : {
          nodes: () => runs.nodes().flatMap(({ online, info }) => (online ? [info] : [])),
          maxNodes: ownService.limits.max_nodes,
        };
  const hasMonitor = config.targets.length > 0;
  const site = createSite({
    assets,
    service,
    places: [
      ...(hasMonitor ? (['overview', 'incidents'] as const) : []),
      ...(service === null ? [] : (['check'] as const)),
      'nodes',
      ...('status' in config.pages ? (['status'] as const) : []),
    ],
    hubs: over.hubsLine,
    overload: () => shownOverload(checking),
  });
  const canCheck = (type: CheckTypeName) => service !== null && startableTypeNames.includes(type);
  const nodes = () => {
    const targets = hasMonitor ? targetsByNode(board) : null;
    return checking.statuses().map((status) => ({
      ...status,
      targets: targets === null ? null : (targets.get(status.info.name) ?? 0),
      disagreement: hasMonitor ? over.disagreementOf(status.info.name) : null,
    }));
  };
  const access = accessOf(config, over, sessions);
  const shared = pageRoutes({ site, assets, docs, service, nodes, hasMonitor, access: hasMonitor ? access : null });
  const { clock, subscriptions } = over;
  const languages = withOwnLanguages(config.languages);
  const { publicUrl } = config.http;
  const pages = () => over.inForce().pages;
  const outages = createPastOutages({
    reader: over.history,
    targetsOf: (page) => (Object.hasOwn(pages(), page) ? (pages()[page]?.targets ?? null) : null),
    clock,
    failed: (error) => over.log.warn({ err: error }, 'cannot read past incidents for a status page'),
  });
  const read = freshFor(statusMs, clock, readStatus({ board, past, pages, notes, ahead, outages, clock }));
  // Strangers may follow these pages: they leave room for everybody else.
  const mostViewers = Math.floor(config.http.connections / 2);
  const stream = createStream({ clock, mostViewers, ...statusEvents(read, languages, board, clock) });
  const status = statusRoutes({
    site,
    board,
    read,
    stream,
    publicUrl,
    pages,
    outages,
    notes,
    languages,
    clock,
    subscriptions,
    isMailAddress,
  });
  const edits = editsOf(config, over, canCheck, service !== null);
  return {
    site,
    routes: hasMonitor
      ? [shared, monitorPages(over, { site, board, past, access, canCheck, edits }), status]
      : [shared],
  };
}

function editsOf(
  { isWritable }: Config,
  { editor, inForce, reload, checkNow }: PagesOver,
  canCheck: (type: CheckTypeName) => boolean,
  canTry: boolean,
): TargetEdits | null {
  if (!isWritable || editor === null) return null;
  return createEdits({ editor, inForce, reload, checkNow, canCheck, canTry });
}

// Strangers load status pages, ten thousand at a time on a bad day: what they show is looked up and drawn a few times a second.
const statusMs = 250;

function accessOf({ http, ownService }: Config, { clock }: PagesOver, sessions: Sessions): AccessControl {
  const isTrusted = inRanges(http.trustProxy);
  return createAccess({
    users: new Map(Object.entries(http.users)),
    userHeader: http.userHeader,
    isProxy: (address) => isTrusted(address),
    strangers: ownService?.open === true,
    sessions,
    clock,
  });
}

function monitorPages(
  { assets, history, checking, controls, checkNow, inForce, silences, clock, store, devices, reloads }: PagesOver,
  {
    site,
    board,
    past,
    access,
    canCheck,
    edits,
  }: Pick<Parameters<typeof monitorRoutes>[0], 'site' | 'board' | 'past' | 'access' | 'canCheck' | 'edits'>,
) {
  const map = () => mapPart(checking.statuses(), assets);
  const overload = () => shownOverload(checking);
  const stream = {
    clock,
    version: () => board.version,
    onChange: (listener: () => void) => followBoard(board, clock, listener),
  };
  const overview = overviewEvents({ board, past, map, reload: () => reloads()[0] ?? null, overload, clock });
  const overviewStream = createStream({ ...stream, since: overview.since });
  return monitorRoutes({
    site,
    assets,
    reader: history,
    board,
    past,
    changesOf: (target) => store.changesOf(target),
    measuredOf: (target, span) => store.measured(target, span),
    nodes: () => checking.statuses(),
    reloads,
    overload,
    silenceOf: (target) => silenceAt(silences(), target, clock.now()),
    actions: {
      acknowledge: async (incident, why) => controls().acknowledge(incident, why),
      async check(name) {
        const target = inForce().targets.find((one) => one.name === name);
        if (target === undefined || !canCheck(target.spec.type))
          throw new WatchpostError('usage', `there is no target ${name} that can be checked now`);
        return checkNow(target.spec);
      },
      silence: (asked) => controls().addSilence({ ...asked, from: null }),
    },
    access,
    edits,
    devices,
    canCheck,
    overviewStream,
    rememberRows: async (targets) => overview.remember(targets, () => overviewStream.viewers === 0),
    changeStream: createStream({ ...stream, since: stateEvents(board) }),
    clock,
  });
}
