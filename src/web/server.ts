import { isIPv6 } from 'node:net';
import type { FastifyPluginAsync } from 'fastify';
import type { Clock } from '#kernel/clock.ts';
import { deadline, orAbort } from '#kernel/clock.ts';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type App, createApp, type WebLimits, webLimits } from './app.ts';
import type { ProblemPage } from './errors.ts';
import { addHealth, type Health } from './health.ts';
import { onlyLocal } from './local.ts';
import { otherMethods } from './methods.ts';
import { metricsRoute, type MetricsText } from './metrics.ts';

export interface ListenAddress {
  /** An address or a name of this machine. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface WebOptions {
  readonly listen: ListenAddress;
  /**
   * Where metrics, health and what operators do are served; without it that is `listen` too. With it `listen` still tells
   * programs on this machine how the program is.
   */
  readonly admin?: ListenAddress | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricsText;
  /** Who may read the metrics on `listen`, where they are there. Default: everybody. */
  readonly metricsFor?: 'everybody' | 'this machine';
  readonly health: Health;
  /** Further routes, each with its own errors and hooks if it likes. */
  readonly plugins?: readonly FastifyPluginAsync[];
  /** The same, for operators. */
  readonly adminPlugins?: readonly FastifyPluginAsync[];
  readonly limits?: Partial<WebLimits>;
  /** What a browser gets where a call failed, and that plugins have the first page; without it, JSON as everybody else. */
  readonly problemPage?: ProblemPage;
  /** Proxies whose X-Forwarded-* headers are believed: addresses and ranges. Default: none. */
  readonly trustProxy?: readonly string[];
}

export interface WebServer extends AsyncDisposable {
  /** Where it listens, with the port that the system chose. */
  addr(): ListenAddress;
  /** The same of the listener for operators, which may be the same. */
  adminAddr(): ListenAddress;
  /** Stops to listen, lets running requests end for `closeMs` at the most, and cuts what is left. */
  close(): Promise<void>;
}

/** Listens and answers. Rejects with `listen_failed` where it cannot, and then nothing listens. */
export async function startWebServer(options: WebOptions): Promise<WebServer> {
  const { listen, admin = null } = options;
  await using started = new AsyncDisposableStack();
  const open = async (app: App, at: ListenAddress, key: Key) => {
    const listener = started.use(await startListener(app, at, key, options));
    return listener.address;
  };
  if (admin === null) {
    const address = await open(appOf(options, everything), listen, 'http.listen');
    return handleOf(address, address, started.move());
  }
  const adminAddress = await open(appOf(options, forOperators), admin, 'http.admin');
  const address = await open(appOf(options, forOthers), listen, 'http.listen');
  return handleOf(address, adminAddress, started.move());
}

function handleOf(address: ListenAddress, admin: ListenAddress, rest: AsyncDisposableStack): WebServer {
  const close = async () => rest.disposeAsync();
  return { addr: () => address, adminAddr: () => admin, close, [Symbol.asyncDispose]: close };
}

/** What the configuration calls a listener. */
type Key = 'http.listen' | 'http.admin';

interface Listener extends AsyncDisposable {
  readonly address: ListenAddress;
}

async function startListener(
  { app, cutQuiet }: App,
  at: ListenAddress,
  key: Key,
  { clock, log, limits }: WebOptions,
): Promise<Listener> {
  const { closeMs } = { ...webLimits, ...limits };
  try {
    await app.listen({ host: at.host, port: at.port });
  } catch (error) {
    await app.close();
    throw listenFailed(at, key, error);
  }
  const bound = app.server.address();
  const address = typeof bound === 'object' && bound !== null ? { host: bound.address, port: bound.port } : at;
  const what = key === 'http.admin' ? 'web server for operators listens' : 'web server listens';
  log.info({ url: `http://${hostAndPort(address)}` }, what);
  return {
    address,
    async [Symbol.asyncDispose]() {
      using limit = deadline(clock, closeMs);
      const closed = app.close();
      cutQuiet();
      try {
        await orAbort(closed, limit.signal);
      } catch (error) {
        if (!limit.expired) throw error;
        log.warn({ afterMs: closeMs }, 'web server cut the requests that did not end');
        app.server.closeAllConnections();
        await closed;
      }
    },
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

function appOf(options: WebOptions, routes: Routes): App {
  const { clock, log, trustProxy = [], limits, problemPage } = options;
  const made = createApp({ clock, log, limits: { ...webLimits, ...limits }, trustProxy, problemPage });
  const refuseOthers = otherMethods(made.app);
  for (const plugin of [...routes(options), refuseOthers]) made.app.register(plugin);
  return made;
}

const frontPage =
  (text: string): FastifyPluginAsync =>
  async (app) => {
    app.get('/', (_, reply) => reply.type('text/plain; charset=utf-8').send(text));
  };

const healthRoutes =
  (health: Health, log: Log): FastifyPluginAsync =>
  async (app) =>
    addHealth(app, health, log);

const metricsWayOut = 'strangers may start checks here: give /metrics a listener of its own with http.admin';

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

const remedies: Readonly<Record<string, (key: string) => string>> = {
  EADDRINUSE: (key) => `another program listens there: stop it, or choose another port in ${key}`,
  EACCES: (key) => `this user may not listen there: choose a port from 1024 upwards in ${key}`,
  EADDRNOTAVAIL: (key) => `this machine has no such address: correct ${key}`,
  EAFNOSUPPORT: (key) => `this machine has no such address family: correct ${key}`,
  ENOTFOUND: (key) => `no such name: write an address into ${key}`,
};

function listenFailed(at: ListenAddress, key: string, cause: unknown): WatchpostError {
  const remedy = remedies[systemCode(cause) ?? '']?.(key) ?? `correct ${key}`;
  const message = `cannot listen on ${hostAndPort(at)}: ${messageOf(cause)}; ${remedy}`;
  return new WatchpostError('listen_failed', message, { cause });
}

function hostAndPort({ host, port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
