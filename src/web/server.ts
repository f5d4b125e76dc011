import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { createApp, type WebLimits, webLimits } from './app.ts';
import type { CorsHeaders, ProblemPage } from './errors.ts';
import { addHealth, type HealthOptions } from './health.ts';
import { type ServedApp, type ListenAddress, type ListenerKey, type RequestPath, startListener } from './listener.ts';
import { onlyLocal } from './local.ts';
import { otherMethods } from './methods.ts';
import { type AnswerMetrics, metricsRoute, type MetricsText } from './metrics.ts';

export type { ListenAddress } from './listener.ts';

export interface WebOptions {
  readonly listen: ListenAddress;
  /**
   * Where metrics, health and what operators do are served; without it that is `listen` too. With it `listen` still tells
   * programs on this machine how the program is.
   */
  readonly admin?: ListenAddress | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsText & AnswerMetrics;
  /** Who may read the metrics on `listen`, if they are served there. Default: everyone. */
  readonly metricsFor?: 'everybody' | 'this machine';
  readonly health: HealthOptions;
  /** Further routes, each with its own errors and hooks if it likes. */
  readonly plugins?: readonly FastifyPluginAsync[];
  /** The same, for operators. */
  readonly adminPlugins?: readonly FastifyPluginAsync[];
  readonly limits?: Partial<WebLimits>;
  /** The page of an error for a browser, and the first page of plugins; without it JSON, as for programs. */
  readonly problemPage?: ProblemPage;
  /** The headers by which pages of other sites may read errors that no route answers. Default: none may. */
  readonly cors?: CorsHeaders;
  /** The path by which a request to `listen` is answered, if its host has paths of its own. Default: its own. */
  readonly pathOf?: RequestPath;
  /** Proxies whose X-Forwarded-* headers are believed: addresses and ranges. Default: none. */
  readonly trustProxy?: readonly string[];
  /** Called with each application before it has routes, and with the listener that it is for. */
  readonly front?: (app: FastifyInstance, listener: ListenerKey) => void;
}

/** What can change while it listens. */
export type WebChanges = Partial<
  Pick<WebOptions, 'pathOf' | 'plugins' | 'adminPlugins' | 'metricsFor' | 'problemPage' | 'cors' | 'trustProxy'>
>;

export interface WebServer extends AsyncDisposable {
  /** Where it listens, with the port that the system chose. */
  addr(): ListenAddress;
  /** The same of the listener for operators, which may be the same. */
  adminAddr(): ListenAddress;
  /** Makes ready to answer in another way, and gives what puts that into force: requests that run then end as they began. */
  prepare(next: WebChanges): Promise<() => void>;
  /** Stops to listen, lets running requests end for `closeMs` at the most, and cuts what is left. */
  close(): Promise<void>;
}

/** Listens and answers. Rejects with `listen_failed` if it cannot, and then nothing listens. */
export async function startWebServer(options: WebOptions): Promise<WebServer> {
  const { listen, admin = null, clock, log } = options;
  const limits = { ...webLimits, ...options.limits };
  await using started = new AsyncDisposableStack();
  const open = async (routes: Routes, at: ListenAddress, key: ListenerKey) => {
    const listener = started.use(
      await startListener(await appOf(options, routes, key), { at, key, limits, clock, log }),
    );
    return { listener, routes, key };
  };
  // The one for operators first: once the other one listens, everything does.
  const forAdmin = admin === null ? null : await open(forOperators, admin, 'http.admin');
  const main = await open(admin === null ? everything : forOthers, listen, 'http.listen');
  const all = forAdmin === null ? [main] : [forAdmin, main];
  const rest = started.move();
  const close = async () => rest.disposeAsync();
  return {
    addr: () => main.listener.address,
    adminAddr: () => (forAdmin ?? main).listener.address,
    async prepare(next) {
      const ready = await Promise.all(all.map(async ({ routes, key }) => appOf({ ...options, ...next }, routes, key)));
      return () => {
        for (const [index, { listener }] of all.entries()) {
          const one = ready[index];
          if (one !== undefined) listener.serve(one);
        }
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Routes = (options: WebOptions) => readonly FastifyPluginAsync[];

const forOperators: Routes = ({ metrics, health, log, adminPlugins = [] }) => [
  frontPage(operatorsPage),
  metricsRoute(metrics),
  healthRoutes(health, log),
  ...adminPlugins,
];

const forOthers: Routes = ({ plugins = [], health, log, problemPage }) => [
  ...(problemPage === undefined ? [frontPage('Watchpost\n')] : []),
  ...plugins,
  local(healthRoutes(health, log)),
];

const everything: Routes = ({ metrics, metricsFor, health, log, plugins = [], adminPlugins = [], problemPage }) => [
  ...(problemPage === undefined ? [frontPage(operatorsPage)] : []),
  metricsFor === 'this machine' ? local(metricsRoute(metrics), metricsWayOut) : metricsRoute(metrics),
  healthRoutes(health, log),
  ...plugins,
  ...adminPlugins,
];

async function appOf(options: WebOptions, routes: Routes, key: ListenerKey): Promise<ServedApp> {
  const { log, trustProxy = [], limits, problemPage, cors = () => ({}), metrics, pathOf } = options;
  const app = createApp({ log, limits: { ...webLimits, ...limits }, trustProxy, problemPage, cors, metrics });
  options.front?.(app, key);
  const refuseOthers = otherMethods(app, { cors, page: problemPage });
  for (const plugin of [...routes(options), refuseOthers]) app.register(plugin);
  await app.ready();
  return { app, trustProxy, cors, pathOf: key === 'http.listen' ? pathOf : undefined };
}

const frontPage =
  (text: string): FastifyPluginAsync =>
  async (app) => {
    app.get('/', (_, reply) => reply.type('text/plain; charset=utf-8').send(text));
  };

const healthRoutes =
  (health: HealthOptions, log: Log): FastifyPluginAsync =>
  async (app) =>
    addHealth(app, health, log);

const metricsWayOut = 'strangers may start checks here: give /metrics its own listener with http.admin';

/** The same routes for programs on this machine only. */
const local =
  (routes: FastifyPluginAsync, wayOut?: string): FastifyPluginAsync =>
  async (app, options) => {
    app.addHook('onRequest', onlyLocal(wayOut));
    await routes(app, options);
  };

const operatorsPage = `Watchpost

/metrics  figures for Prometheus
/healthz  whether its parts make progress: 200 or 503, and which one is stuck
/readyz   whether it has started and takes requests: 200 or 503, and why not
`;
