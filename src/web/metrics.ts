import { pipeline, Readable } from 'node:stream';
import { constants, createGunzip, createGzip } from 'node:zlib';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { takesGzip } from './compression.ts';

/** What `/metrics` answers, as it is made. */
export interface MetricsText {
  scrape(asked: {
    /** The Accept header. */
    readonly accept?: string | undefined;
    /** Tells one Prometheus from another; null for people and other programs. */
    readonly scraper: string | null;
  }): {
    readonly contentType: string;
    readonly body: AsyncIterable<string | Uint8Array>;
    /** The same in pieces of one gzip body, as it was some time ago: what takes long to make is made for many. Null for what does not. */
    readonly kept: (() => Promise<{ readonly pieces: readonly Buffer[]; readonly ageMs: number }>) | null;
  };
}

/** Called for every answer, with the time until it was sent whole. */
export interface AnswerMetrics {
  requestAnswered(answered: {
    /** The path as the program knows it; null if it has none of that kind. */
    readonly route: string | null;
    readonly method: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
}

/** `/metrics`, in the format and the packing that are asked for, sent while it is written. */
export function metricsRoute(metrics: MetricsText): FastifyPluginAsync {
  return async (app) => {
    app.get('/metrics', async (request, reply) => {
      const { accept, 'accept-encoding': encodings } = request.headers;
      const { contentType, body, kept } = metrics.scrape({ accept, scraper: scraperOf(request) });
      reply.headers({ 'content-type': contentType, vary: 'accept, accept-encoding' });
      if (kept !== null && request.method !== 'HEAD') return sendKept(reply, await kept(), takesGzip(encodings));
      const text = Readable.from(request.method === 'HEAD' ? [] : body);
      if (!takesGzip(encodings)) return reply.send(text);
      const packed = createGzip({ level: constants.Z_BEST_SPEED });
      // The reader gets the error of a compressed body.
      pipeline(text, packed, () => {});
      return reply.header('content-encoding', 'gzip').send(packed);
    });
  };
}

function sendKept(
  reply: FastifyReply,
  { pieces, ageMs }: { readonly pieces: readonly Buffer[]; readonly ageMs: number },
  isPacked: boolean,
): FastifyReply {
  // RFC 9111, section 5.1.
  reply.header('age', String(Math.round(ageMs / 1_000)));
  const packed = Readable.from(pieces);
  if (isPacked) return reply.header('content-encoding', 'gzip').send(packed);
  const text = createGunzip();
  // The reader gets the error of a body.
  pipeline(packed, text, () => {});
  return reply.send(text);
}

// This header comes with every scrape of Prometheus and of what scrapes in its way, and with no request of people.
function scraperOf({ headers, socket }: FastifyRequest): string | null {
  if (headers['x-prometheus-scrape-timeout-seconds'] === undefined) return null;
  return `${socket.remoteAddress ?? ''} ${headers['user-agent'] ?? ''}`;
}
