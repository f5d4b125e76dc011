import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { NewestEntries } from '#kernel/newest-entries.ts';

const worthIt = 1_400;

/** Whether this Accept-Encoding header allows gzip. */
export function takesGzip(header: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s*,|\s*$))/i.test([header ?? ''].flat().join(','));
}

/** Packs pages, drawings and feeds for those who take them packed; answers to programs stay as they are, and wait for nothing. */
export function compressPages(app: FastifyInstance): void {
  // The last pages that anyone may see, which many load at the same time.
  const publicPages = new NewestEntries<string, Buffer>(64);
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isPage(reply, payload)) return done(null, payload);
    const { vary, 'cache-control': caching } = reply.getHeaders();
    reply.header('vary', [vary, 'accept-encoding'].flat().filter(Boolean).join(', '));
    if (!takesGzip(request.headers['accept-encoding'])) return done(null, payload);
    const send = (packed: Buffer) => {
      reply.header('content-encoding', 'gzip').removeHeader('content-length');
      done(null, packed);
    };
    const known = publicPages.get(payload);
    if (known !== undefined) return send(known);
    // What is secret stands in no page: signing in is by cookie, and forms are known by where they come from.
    gzip(payload, { level: 5 }, (error, packed) => {
      if (error !== null) return done(error);
      if (/^public\b/.test(String(caching ?? ''))) publicPages.set(payload, packed);
      send(packed);
    });
  });
}

function isPage(reply: FastifyReply, payload: unknown): payload is string {
  if (typeof payload !== 'string' || payload.length < worthIt || reply.hasHeader('content-encoding')) return false;
  return /^(?:text\/html|image\/svg\+xml|application\/atom\+xml)/.test(String(reply.getHeader('content-type') ?? ''));
}
