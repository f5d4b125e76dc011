import { BlockList, isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '#protocol/errors.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

// What a proxy adds, and what a browser adds to a page's requests: both would lend somebody else the rights of this machine.
const telltale = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via', 'origin', 'referer'];

/**
 * A hook for routes that operators use on the machine itself: refuses (403) whatever does not come straight from a program on
 * this machine. A page that was fetched under a name of its own which leads here (DNS rebinding) is known by its Host.
 */
export function onlyLocal(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { remoteAddress = '' } = request.socket;
  const address = remoteAddress.replace(/^::ffff:(?=\d)/, '');
  const isHere = loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  const isStraight = telltale.every((name) => request.headers[name] === undefined);
  const isOurName = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(request.headers.host ?? '');
  const fetchSite = request.headers['sec-fetch-site'];
  if (isHere && isStraight && isOurName && fetchSite === undefined) return done();
  void reply.code(403).send(errorBody('forbidden', 'this is for programs on this machine, without a proxy between'));
}
