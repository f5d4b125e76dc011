import type { FastifyReply, FastifyRequest } from 'fastify';
import { isFromHere } from '#kernel/network.ts';
import { errorBody } from '#protocol/errors.ts';

// What a browser adds to a page's requests: it would lend somebody else the rights of this machine.
const ofPages = ['origin', 'referer', 'sec-fetch-site'];

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/**
 * A hook for routes that operators use on the machine itself: refuses (403) whatever does not come straight from a program on
 * this machine.
 */
export function onlyLocal(wayOut?: string): Hook {
  const message = `this is for programs on this machine, without a proxy between${wayOut === undefined ? '' : `; ${wayOut}`}`;
  return (request, reply, done) => {
    const { socket, headers } = request;
    const isPage = ofPages.some((name) => headers[name] !== undefined);
    if (!isPage && isFromHere({ peer: socket.remoteAddress ?? '', headers })) return done();
    void reply.code(403).send(errorBody('forbidden', message));
  };
}
