import Fastify, { type FastifyInstance } from 'fastify';
import type { Log } from '#kernel/log.ts';
import { compressPages } from './compression.ts';
import type { ConnectionLimits } from './admission.ts';
import type { AnswerMetrics } from './metrics.ts';
import { answerErrors, type CorsHeaders, frameworkErrors, type ProblemPage, withoutSecret } from './errors.ts';

/** How long the other side may take, in milliseconds, and how much it may send, in bytes. */
export interface WebLimits extends ConnectionLimits {
  /** For the head of a request. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** From the end of a request to the end of its answer, however slowly it is read; as long again while the client has read all that there is. */
  readonly answerMs: number;
  /** For a connection on which nothing moves, and between two requests. */
  readonly idleMs: number;
  /** For the requests that run when the server is closed. */
  readonly closeMs: number;
  readonly headBytes: number;
  readonly bodyBytes: number;
}

export const webLimits: WebLimits = {
  headersMs: 10_000,
  requestMs: 15_000,
  answerMs: 60_000,
  idleMs: 30_000,
  closeMs: 5_000,
  headBytes: 16_384,
  bodyBytes: 65_536,
  connections: 1_000,
  keptForLoopback: 50,
  perClient: 100,
};

// Links in messages carry a token of the longest names: that of a target and a rule, and a mail address of 254 characters.
const longestParameter = 2_048;

// Without compilers of ours, Fastify loads Ajv and fast-json-stringify: 100 modules that nothing here uses, as zod reads requests.
const noSchemas = (): never => {
  throw new Error('a route has a schema of Fastify, for which there is no compiler');
};

export interface AppOptions {
  readonly log: Log;
  readonly limits: WebLimits;
  /** Addresses and ranges. */
  readonly trustProxy: readonly string[];
  readonly problemPage?: ProblemPage | undefined;
  readonly cors: CorsHeaders;
  readonly metrics: AnswerMetrics;
}

/** An application without routes, for a listener that cannot be worn out. */
export function createApp({ log, limits, trustProxy, problemPage, cors, metrics }: AppOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    bodyLimit: limits.bodyBytes,
    routerOptions: { maxParamLength: longestParameter },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    frameworkErrors: (error, request, reply) =>
      frameworkErrors(error, {
        request,
        reply: reply.headers({ ...protection, ...cors(request.headers) }),
        page: problemPage,
      }),
  });
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers(protection);
    done();
  });
  compressPages(app);
  answerErrors(app, { log, cors, page: problemPage });
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url, ip, routeOptions } = request;
    const { statusCode: status, elapsedTime } = reply;
    metrics.requestAnswered({ route: routeOptions.url ?? null, method, status, seconds: elapsedTime / 1_000 });
    if (!log.isLevelEnabled('debug')) return done();
    log.debug({ method, url: withoutSecret(url), ip, status, ms: Math.round(elapsedTime) }, 'request answered');
    done();
  });
  return app;
}

/** Headers of every answer; a route that serves pages sets its own instead. Nothing may be framed, sniffed, cached or run. */
export const protection: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};
