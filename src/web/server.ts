import { isIPv6 } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify';
import type { Clock } from '#kernel/clock.ts';
import { deadline, orAbort } from '#kernel/clock.ts';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { cutSlowReaders, quietConnections } from './connections.ts';
import { answerErrors, frameworkErrors, refuseClient } from './errors.ts';
import { addHealth, type Health } from './health.ts';
import { otherMethods } from './methods.ts';
import { protection } from './protection.ts';

export interface ListenAddress {
  /** An address or a name of this machine. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** How long the other side may take, in milliseconds, and how much it may send, in bytes. */
export interface WebLimits {
  /** For the head of a request. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** From the end of a request to the end of its answer, however slowly it is read. */
  readonly answerMs: number;
  /** For a connection on which nothing moves, and between two requests. */
  readonly idleMs: number;
  /** For the requests that run when the server is closed. */
  readonly closeMs: number;
  readonly headBytes: number;
  readonly bodyBytes: number;
  readonly connections: number;
}

const webLimits: WebLimits = {
  headersMs: 10_000,
  requestMs: 15_000,
  answerMs: 60_000,
  idleMs: 30_000,
  closeMs: 5_000,
  headBytes: 16_384,
  bodyBytes: 65_536,
  connections: 1_000,
};

export interface WebOptions {
  readonly listen: ListenAddress;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly health: Health;
  /** Further routes, each with its own errors and hooks if it likes. */
  readonly plugins?: readonly FastifyPluginAsync[];
  readonly limits?: Partial<WebLimits>;
  /** Proxies whose X-Forwarded-* headers are believed: addresses and ranges. Default: none. */
  readonly trustProxy?: readonly string[];
}

export interface WebServer extends AsyncDisposable {
  /** Where it listens, with the port that the system chose. */
  addr(): ListenAddress;
  /** Stops to listen, lets running requests end for `closeMs` at the most, and cuts what is left. */
  close(): Promise<void>;
}

/** Listens and answers. Rejects with `listen_failed` where it cannot. */
export async function startWebServer(options: WebOptions): Promise<WebServer> {
  const { listen, clock, log } = options;
  const limits = { ...webLimits, ...options.limits };
  const app = createApp(options, limits);
  const cutQuiet = quietConnections(app);
  try {
    await app.listen({ host: listen.host, port: listen.port });
  } catch (error) {
    await app.close();
    throw listenFailed(listen, error);
  }
  const address = app.server.address();
  const bound =
    typeof address === 'object' && address !== null ? { host: address.address, port: address.port } : listen;
  log.info({ url: urlOf(bound) }, 'web server listens');

  async function close(): Promise<void> {
    using limit = deadline(clock, limits.closeMs);
    const closed = app.close();
    cutQuiet();
    try {
      await orAbort(closed, limit.signal);
    } catch (error) {
      if (!limit.expired) throw error;
      log.warn({ afterMs: limits.closeMs }, 'web server cut the requests that did not end');
      app.server.closeAllConnections();
      await closed;
    }
  }

  return { addr: () => bound, close, [Symbol.asyncDispose]: close };
}

function createApp(options: WebOptions, limits: WebLimits): FastifyInstance {
  const { clock, log, metrics, health, plugins = [], trustProxy = [] } = options;
  const app = Fastify({
    logger: false,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    bodyLimit: limits.bodyBytes,
    connectionTimeout: limits.idleMs,
    keepAliveTimeout: limits.idleMs,
    requestTimeout: limits.requestMs,
    forceCloseConnections: 'idle',
    frameworkErrors,
    clientErrorHandler: refuseClient,
    http: {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    },
  });
  app.server.maxConnections = limits.connections;
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers(protection);
    done();
  });
  cutSlowReaders(app, clock, limits.answerMs);
  answerErrors(app, log);
  app.addHook('onResponse', (request, reply, done) => {
    if (!log.isLevelEnabled('debug')) return done();
    const { method, url, ip } = request;
    log.debug({ method, url, ip, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request answered');
    done();
  });
  const refuseOthers = otherMethods(app);
  app.get('/', (_, reply) => reply.type('text/plain; charset=utf-8').send(welcome));
  app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  addHealth(app, health, log);
  for (const plugin of plugins) app.register(plugin);
  app.register(refuseOthers);
  return app;
}

const welcome = `Watchpost

/metrics  figures for Prometheus
/healthz  whether its parts make progress: 200 or 503, and which one is stuck
/readyz   whether it has started and takes requests: 200 or 503, and why not
`;

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there: stop it, or choose another port in http.listen',
  EACCES: 'this user may not listen there: choose a port from 1024 upwards in http.listen',
  EADDRNOTAVAIL: 'this machine has no such address: correct http.listen',
  EAFNOSUPPORT: 'this machine has no such address family: correct http.listen',
  ENOTFOUND: 'no such name: write an address into http.listen',
};

function listenFailed(listen: ListenAddress, cause: unknown): WatchpostError {
  const remedy = remedies[systemCode(cause) ?? ''] ?? 'correct http.listen';
  const message = `cannot listen on ${hostAndPort(listen)}: ${messageOf(cause)}; ${remedy}`;
  return new WatchpostError('listen_failed', message, { cause });
}

function urlOf(address: ListenAddress): string {
  return `http://${hostAndPort(address)}`;
}

function hostAndPort({ host, port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
