import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isFromHere } from '#kernel/network.ts';

/** Whether a browser or a program on this machine asks. */
export function isLocal({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  return isFromHere({ peer: socket.remoteAddress ?? '', headers });
}

/** Lets these routes read what the forms of pages send: names and texts. */
export function readForms(app: FastifyInstance): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
}

/** Whether a form was sent by a page of ours, and not by one of another site that lends itself the visitor's rights. */
export function isOwnForm({ headers, host }: Pick<FastifyRequest, 'headers' | 'host'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  return origin !== undefined && URL.parse(origin)?.host === host;
}
