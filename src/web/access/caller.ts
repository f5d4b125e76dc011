import { BlockList, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** Whether a browser or a program on this machine asks, straight and under one of the machine's own names. */
export function isLocal({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d)/, '');
  const isHere = loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  const isStraight = forwarding.every((name) => headers[name] === undefined);
  // A page that was fetched under a name of its own which leads here (DNS rebinding) is known by its Host.
  const isOurName = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(headers.host ?? '');
  return isHere && isStraight && isOurName;
}

/** Whether a form was sent by a page of ours, and not by one of another site that lends itself the visitor's rights. */
export function isOwnForm({ headers, host }: Pick<FastifyRequest, 'headers' | 'host'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  return origin !== undefined && URL.parse(origin)?.host === host;
}
