import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WatchpostError } from '#kernel/errors.ts';
import { isFromHere } from '#kernel/network.ts';
import { apiErrors, errorBody } from '#protocol/errors.ts';

// Headers that a browser adds to a page's requests: such a page would use the rights of this machine.
const ofPages = ['origin', 'referer', 'sec-fetch-site'];

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/**
 * A hook for routes that operators use on the machine itself: refuses (403) whatever does not come straight from a program on
 * this machine.
 */
export function onlyLocal(wayOut?: string): Hook {
  const message = `this is for programs on this machine only, not through a proxy${wayOut === undefined ? '' : `; ${wayOut}`}`;
  return (request, reply, done) => {
    const { socket, headers } = request;
    const isPage = ofPages.some((name) => headers[name] !== undefined);
    if (!isPage && isFromHere({ peer: socket.remoteAddress ?? '', headers })) return done();
    void reply.code(403).send(errorBody('forbidden', message));
  };
}

/**
 * For routes that operators use on the machine itself: any other caller is refused, and a wrong call gets an error that says
 * what is wrong. `usage` says what such an error of the program means for these routes.
 */
export function onlyForOperators(app: FastifyInstance, usage: 'bad_request' | 'not_found'): void {
  app.addHook('onRequest', onlyLocal());
  app.setErrorHandler((error, _, reply) => {
    if (error instanceof WatchpostError && error.code === 'usage')
      return reply.code(apiErrors[usage].status).send(errorBody(usage, error.message));
    throw error;
  });
}
