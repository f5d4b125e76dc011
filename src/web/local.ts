import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '#kernel/network.ts';
import { errorBody } from '#protocol/errors.ts';

// What a proxy adds, and what a browser adds to a page's requests: both would lend somebody else the rights of this machine.
const telltale = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via', 'origin', 'referer'];

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/**
 * A hook for routes that operators use on the machine itself: refuses (403) whatever does not come straight from a program on
 * this machine. A page that was fetched under a name of its own which leads here (DNS rebinding) is known by its Host.
 */
export function onlyLocal(wayOut?: string): Hook {
  const message = `this is for programs on this machine, without a proxy between${wayOut === undefined ? '' : `; ${wayOut}`}`;
  return (request, reply, done) => {
    if (isStraightFromHere(request)) return done();
    void reply.code(403).send(errorBody('forbidden', message));
  };
}

function isStraightFromHere({ socket, headers }: FastifyRequest): boolean {
  const { remoteAddress = '' } = socket;
  const isStraight = telltale.every((name) => headers[name] === undefined);
  const isOurName = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(headers.host ?? '');
  return isLoopback(remoteAddress) && isStraight && isOurName && headers['sec-fetch-site'] === undefined;
}
