import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

const compress = promisify(gzip);
const worthIt = 1_400;

/** Whether this Accept-Encoding header allows gzip. */
export function takesGzip(header: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s*,|\s*$))/i.test([header ?? ''].flat().join(','));
}

/** Packs pages, drawings and feeds for those who take them packed; answers to programs stay as they are. */
export function compressPages(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < worthIt || reply.hasHeader('content-encoding')) return payload;
    const type = String(reply.getHeader('content-type') ?? '');
    if (!/^(?:text\/html|image\/svg\+xml|application\/atom\+xml)/.test(type)) return payload;
    const { vary } = reply.getHeaders();
    reply.header('vary', [vary, 'accept-encoding'].flat().filter(Boolean).join(', '));
    if (!takesGzip(request.headers['accept-encoding'])) return payload;
    // What is secret stands in no page: signing in is by cookie, and forms are known by where they come from.
    const packed = await compress(payload, { level: 5 });
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return packed;
  });
}
