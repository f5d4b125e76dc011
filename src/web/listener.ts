import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type Clock, deadline, orAbort } from '#kernel/clock.ts';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { isLoopback } from '#kernel/network.ts';
import { errorBody } from '#protocol/errors.ts';
import type { WebLimits } from './app.ts';
import { createAdmission, isReserved } from './admission.ts';
import { admitConnections, cutIdle, cutSlowReaders, inRanges } from './connections.ts';
import { type CorsHeaders, refuseClient } from './errors.ts';

export interface ListenAddress {
  /** An address or a name of this machine. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** What answers, and the proxies whose connections stand for many clients. */
export interface ServedApp {
  /** Ready to answer; it does not listen itself. */
  readonly app: FastifyInstance;
  /** Addresses and ranges. */
  readonly trustProxy: readonly string[];
  readonly cors: CorsHeaders;
  /** The path by which a request is answered, if the host that it asks has paths of its own. */
  readonly pathOf?: RequestPath | undefined;
}

/** The path of a request to this host. */
export type RequestPath = (host: string | undefined, url: string) => string;

/** Something that listens, whatever answers behind it. */
export interface HttpListener extends AsyncDisposable {
  readonly address: ListenAddress;
  /** Has another application answer from now on. Requests that run end with the one that they began with. */
  serve(next: ServedApp): void;
}

/** What the configuration calls a listener. */
export type ListenerKey = 'http.listen' | 'http.admin';

export interface ListenerOptions {
  readonly at: ListenAddress;
  readonly key: ListenerKey;
  readonly limits: WebLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** Listens, with connections that cannot wear it out. Rejects with `listen_failed` if it cannot, and then nothing listens. */
export async function startListener(
  first: ServedApp,
  { at, key, limits, clock, log }: ListenerOptions,
): Promise<HttpListener> {
  let served = first;
  let isTrusted = inRanges(first.trustProxy);
  const admission = createAdmission<Socket>(
    limits,
    () => clock.elapsed(),
    (address) => isTrusted(address),
  );
  const server = serverOf(limits, (request, response) => {
    if (request.socket.destroyed) return;
    request.url = served.pathOf?.(hostOf(request, isTrusted), request.url ?? '/') ?? request.url;
    if (admission.isCrowded && !isReserved(request.url ?? '') && !isLoopback(request.socket.remoteAddress ?? ''))
      refuseCrowd(response, served.cors(request.headers));
    else served.app.routing(request, response);
  });
  // A body that comes too slowly has a head that was read.
  const heads = new WeakMap<Duplex, IncomingHttpHeaders>();
  server.prependListener('request', ({ socket, headers }) => void heads.set(socket, headers));
  server.on('clientError', (error, socket) => refuseClient(error, socket, served.cors, heads.get(socket)));
  const connections = admitConnections(server, admission);
  const slow = cutSlowReaders(server, clock, limits.answerMs);
  try {
    server.listen({ host: at.host, port: at.port });
    await once(server, 'listening');
  } catch (error) {
    server.close();
    throw listenFailed(at, key, error);
  }
  const bound = server.address();
  const address = typeof bound === 'object' && bound !== null ? { host: bound.address, port: bound.port } : at;
  const what = key === 'http.admin' ? 'web server for operators listens' : 'web server listens';
  log.info({ url: `http://${hostAndPort(address)}` }, what);
  return {
    address,
    serve(next) {
      served = next;
      isTrusted = inRanges(next.trustProxy);
    },
    async [Symbol.asyncDispose]() {
      using limit = deadline(clock, limits.closeMs);
      const ended = once(server, 'close');
      const closed = Promise.all([served.app.close(), ended]);
      server.close();
      connections.end();
      try {
        await orAbort(closed, limit.signal);
      } catch (error) {
        if (!limit.expired) throw error;
        log.warn({ afterMs: limits.closeMs }, 'web server closed requests that did not finish');
        server.closeAllConnections();
        await closed;
      } finally {
        slow[Symbol.dispose]();
      }
    },
  };
}

// As the proxy was asked, if it is trusted.
function hostOf({ headers, socket }: IncomingMessage, isTrusted: (address: string) => boolean): string | undefined {
  const forwarded = headers['x-forwarded-host'];
  if (typeof forwarded !== 'string' || !isTrusted(socket.remoteAddress ?? '')) return headers.host;
  return forwarded.split(',').at(-1)?.trim();
}

// By hand, for it has to cost next to nothing.
function refuseCrowd(response: ServerResponse, cors: Readonly<Record<string, string>>): void {
  response.writeHead(503, { 'retry-after': '5', connection: 'close', 'content-type': 'application/json', ...cors });
  response.end(crowded);
}

const crowded = JSON.stringify(errorBody('unavailable', 'too many connections: try again in some seconds'));

function serverOf(limits: WebLimits, answer: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    },
    answer,
  );
  cutIdle(server, limits.idleMs);
  // As many again may wait to ask something.
  server.maxConnections = 2 * limits.connections;
  return server;
}

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
