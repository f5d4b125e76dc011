import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import type { Foundation } from '#compose/foundation.ts';
import { beatsOf } from '#compose/beats.ts';
import { type AcknowledgementParts, controlsOf } from '#compose/monitor.ts';
import { exclusionsOf } from '#compose/exclusions.ts';
import { openPages, type PagesOver } from '#compose/pages.ts';
import { type CheckSharing, openService } from '#compose/service.ts';
import type { FollowerView } from '#compose/follower.ts';
import { type OpenedSubscriptions, openSubscriptions } from '#compose/subscriptions.ts';
import type { StartupState } from '#compose/startup-state.ts';
import type { Config } from '#config/config.ts';
import type { TargetEditor } from '#config/edit/edit-targets.ts';
import { isSame } from '#config/apply/same.ts';
import type { UnstoredDeliveries } from '#monitor/notify/unstored.ts';
import type { Outbox } from '#monitor/notify/outbox.ts';
import type { SharedWrite } from '#store/shared-store.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { withOwnLanguages } from '#languages/languages.ts';
import { deliveryRoutes } from '#web/deliveries.ts';
import type { HealthOptions } from '#web/health.ts';
import { historyRoutes } from '#web/history.ts';
import { pageOfHost, pathOnDomain } from '#web/pages/own-domain.ts';
import { languageFor } from '#web/pages/visitor-language.ts';
import type { PageSet } from '#web/pages/site.ts';
import { isStatusPath, visitorProblem } from '#web/pages/visitor-problem.ts';
import { subscriberRoutes } from '#web/subscribers.ts';
import { statesSince } from '#web/state/states.ts';
import { stateRoutes } from '#web/states.ts';
import { exclusionRoutes } from '#web/exclusions.ts';
import { noteRoutes } from '#web/notes.ts';
import { type WebChanges, startWebServer, type WebOptions, type WebServer } from '#web/server.ts';

const closeMs = 1_000;

export interface WebDependencies extends CheckRunnerEnvironment, Foundation {
  readonly upcoming: StartupState;
  readonly outbox: Pick<Outbox, 'wake'>;
  readonly health: HealthOptions;
  readonly acknowledging: AcknowledgementParts;
  readonly unstored: UnstoredDeliveries;
  /** What stands for the monitor on a hub that does not lead. */
  readonly following: FollowerView | null;
  readonly hubsLine: PagesOver['hubsLine'];
  /** What changes the configuration's files; null if nothing does. */
  readonly editor: TargetEditor | null;
  readonly checkSharing: CheckSharing | null;
  /** What every request passes first. */
  readonly front?: WebOptions['front'];
}

/** The HTTP server, and what it shows. */
export interface Web {
  readonly web: WebServer;
  readonly pages: Pick<ReturnType<typeof openPages>, 'board' | 'seed' | 'notes'>;
  /** Takes in what was written to the history that hubs share. */
  readonly committed: (writes: readonly SharedWrite[]) => void;
  readonly mailing: OpenedSubscriptions;
  /** Makes ready to serve what another configuration asks for, and gives what puts that into force. */
  prepare(next: Config): Promise<() => void>;
}

/** Starts the HTTP server with everything that this configuration has it serve. */
export async function openWeb(
  config: Config,
  {
    upcoming,
    outbox,
    unstored,
    health,
    acknowledging,
    metrics,
    store,
    history,
    checking,
    retention,
    following,
    hubsLine,
    editor,
    devices,
    checkSharing: sharing,
    front,
    ...parts
  }: WebDependencies,
  started: AsyncDisposableStack,
): Promise<Web> {
  const { clock, random, log } = parts;
  const { controls, routes } = controlsOf(() => upcoming.started(), { clock, random, unstored });
  const service = openService({ runs: () => checking.runs, store, retention, sharing, clock, random, log, started });
  const mailing = openSubscriptions({ store, inForce: upcoming.inForce, clock, random, log });
  const pages = started.use(
    openPages({
      checking,
      assets: await loadAssets(),
      inForce: upcoming.inForce,
      openIncidents: () => upcoming.watching?.monitor.openIncidents() ?? following?.openIncidents() ?? [],
      history,
      controls: () => controls,
      checkNow: async (spec) => service.checkNow(spec),
      editor,
      ...reloadsOf(upcoming),
      store,
      subscriptions: mailing.subscriptions,
      devices: devices.pages,
      hubsLine,
      silences: () => upcoming.watching?.monitor.silences() ?? following?.silences() ?? [],
      disagreementOf: (node) => metrics.disagreementOf(node),
      clock,
      random,
      log,
    }),
  );
  const beats = beatsOf(upcoming, { onAnswered: (outcome) => metrics.beatAnswered(outcome), clock, log });
  const excluding = exclusionsOf({ upcoming, store, renewPages: () => pages.renewPast(), clock, random });
  const servedFor = (of: Config): WebChanges => {
    const { site, routes: shown } = pages.of(of);
    return {
      // A page that strangers are let in to does not show them what is watched.
      metricsFor: of.ownService?.open === true ? 'this machine' : 'everybody',
      plugins: [...shown, ...service.routesOf(of, site), ...acknowledging.routesOf(of, site), ...beats],
      problemPage: problemPageOf(site, upcoming.inForce),
      cors: service.corsOf(of),
      trustProxy: of.http.trustProxy,
      pathOf: pathAt(() => upcoming.inForce().pages),
    };
  };
  const web = started.use(
    await startWebServer({
      listen: config.http,
      admin: config.http.admin,
      clock,
      log,
      metrics,
      health,
      adminPlugins: [
        routes,
        stateRoutes((version) => statesSince(pages.board, version)),
        noteRoutes(pages.notes),
        exclusionRoutes(excluding.exclusions),
        subscriberRoutes(mailing.subscriptions),
        deliveryRoutes({ store, wakeOutbox: () => outbox.wake() }),
        historyRoutes({ history, clock }),
      ],
      ...(front !== undefined && { front }),
      limits: { closeMs, connections: config.http.connections },
      ...servedFor(config),
    }),
  );
  let served = config;
  return {
    web,
    pages,
    committed: excluding.committed,
    mailing,
    async prepare(next) {
      if (isSame(servedParts(served), servedParts(next))) return () => {};
      const putIntoForce = await web.prepare(servedFor(next));
      return () => {
        served = next;
        putIntoForce();
      };
    },
  };
}

const reloadsOf = (upcoming: StartupState): Pick<PagesOver, 'reload' | 'reloads'> => ({
  reloads: () => upcoming.watching?.reloader.reports ?? [],
  reload: async (cause) => upcoming.started().reloader.reload(cause),
});

// The domain of a status page has nothing but that page.
const pathAt = (pages: () => Config['pages']) => (host: string | undefined, url: string) => {
  const page = pageOfHost(host, pages());
  return page === null ? url : pathOnDomain(page, url);
};

// What the routes are made of; everything else is created on the first request.
function servedParts({ http, ownService, foreignService, pages, languages, targets }: Config): readonly unknown[] {
  return [http, ownService, foreignService === null, Object.keys(pages), languages, targets.length > 0];
}

// Visitors of status pages get no menu of pages that they may not see, and their language.
function problemPageOf(site: PageSet, inForce: () => Config): NonNullable<WebChanges['problemPage']> {
  return (problem, request) =>
    isStatusPath(request.url) || pageOfHost(request.host, inForce().pages) !== null
      ? visitorProblem(site, languageFor(request, withOwnLanguages(inForce().languages)), problem.status)
      : site.problem(problem);
}
