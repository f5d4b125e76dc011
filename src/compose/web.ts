import type { Environment } from '#compose/checking.ts';
import type { Foundation } from '#compose/foundation.ts';
import { type Acknowledging, controlsOf } from '#compose/monitor.ts';
import { pagesOf } from '#compose/pages.ts';
import { serviceOf } from '#compose/service.ts';
import type { Upcoming } from '#compose/upcoming.ts';
import type { Config } from '#config/config.ts';
import type { Outbox } from '#monitor/tell/outbox.ts';
import { loadAssets } from '#web/assets/assets.ts';
import { deliveryRoutes } from '#web/deliveries.ts';
import type { Health } from '#web/health.ts';
import { historyRoutes } from '#web/history.ts';
import { startWebServer } from '#web/server.ts';

const closeMs = 1_000;

export interface WebParts extends Environment, Foundation {
  readonly upcoming: Upcoming;
  readonly outbox: Pick<Outbox, 'wake'>;
  readonly health: Health;
  readonly acknowledging: Acknowledging;
}

/** Starts the HTTP server with everything that this configuration has it serve. */
export async function openWeb(
  config: Config,
  { upcoming, outbox, health, acknowledging, metrics, store, history, checking, retention, ...parts }: WebParts,
  started: AsyncDisposableStack,
) {
  const { clock, random, log } = parts;
  const controls = controlsOf(() => upcoming.started(), { clock, random, store });
  const pages = pagesOf(config, {
    checking,
    assets: await loadAssets(),
    inForce: upcoming.inForce,
    openIncidents: () => upcoming.watching?.monitor.openIncidents() ?? [],
    history,
    controls: () => controls.controls,
    clock,
    random,
    log,
  });
  const service = serviceOf(
    { ...config, retention },
    { runs: checking.runs, pages: pages.site, store, clock, random, log, started },
  );
  const { trustProxy, admin } = config.http;
  const web = started.use(
    await startWebServer({
      listen: config.http,
      admin,
      clock,
      log,
      metrics,
      // A page that strangers are let in to does not show them what is watched.
      metricsFor: config.ownService?.open === true ? 'this machine' : 'everybody',
      health,
      plugins: [...pages.routes, ...service, ...acknowledging.routes],
      problemPage: (problem) => pages.site.problem(problem),
      adminPlugins: [
        controls.routes,
        deliveryRoutes({ store, wakeOutbox: () => outbox.wake() }),
        historyRoutes({ history, clock }),
      ],
      trustProxy,
      limits: { closeMs },
    }),
  );
  return { web, pages };
}
