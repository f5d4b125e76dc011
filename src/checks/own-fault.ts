import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { attributesOf, loadNetlink, type Netlink } from './netlink.ts';
import { failure, type Failure, type FailureCode, type Outcome } from './outcome.ts';
import type { NetworkPath, PathChanges } from './path-changes.ts';

// Errors that a machine sees of every target when its own network fails. A target that refuses, resets or answers was reached.
const doubtful: ReadonlySet<FailureCode> = new Set(['timeout', 'unreachable', 'silent']);

/** What changed on the way of a check since it began. */
export interface NetworkWindow {
  readonly changes: PathChanges;
  readonly mark: number;
}

/**
 * The one place where a failure to reach a target is judged to be this node's own: it has no route, its interface is down, or its
 * gateway does not answer. A neighbour on a network of ours that does not answer is at fault itself. A check during which link,
 * route or gateway went or came back says nothing, however it failed.
 */
export async function judgeOwnFault<Detail>(
  outcome: Outcome<Detail>,
  meanwhile: NetworkWindow,
): Promise<Outcome<Detail>> {
  if (outcome.status === 'up' || outcome.failure.source !== 'target') return outcome;
  const { address, failure: seen } = outcome;
  const lasting = address === null || !doubtful.has(seen.code) ? null : await ownFault(address);
  const reason = lasting ?? (await changedMeanwhile(outcome, meanwhile));
  if (reason === null) return outcome;
  // What was lost says nothing about the target.
  const { loss: _loss, ...facts } = outcome.facts;
  return { ...outcome, status: 'unknown', facts, failure: reason };
}

/** The router that packets to an address leave this node by. */
export interface Gateway {
  readonly address: string;
  /** False if it does not answer as a neighbour (neighbor discovery, ARP). */
  readonly isReachable: boolean;
}

/** The gateway on the way to an address; null if there is none on it, or if the kernel does not say. */
export async function gatewayTo(address: string): Promise<Gateway | null> {
  const netlink = await loadNetlink();
  const path = netlink === null ? null : pathTo(netlink, Buffer.from(ipaddr.parse(address).toByteArray()));
  if (netlink === null || path === null || path === 'none' || path.link === null || path.gateway === null) return null;
  const { link, gateway } = path;
  return {
    address: ipaddr.fromByteArray([...gateway]).toString(),
    isReachable: isUp(netlink, link) && isReachable(netlink, link, gateway),
  };
}

async function changedMeanwhile(
  { address, failure: seen }: FailedOutcomeView,
  { changes, mark }: NetworkWindow,
): Promise<Failure | null> {
  const netlink = await loadNetlink();
  if (netlink === null) return null;
  const destination = address === null ? null : Buffer.from(ipaddr.parse(address).toByteArray());
  const path = destination === null ? null : pathTo(netlink, destination);
  if (path === 'none') return failure('node', 'local', noRoute(address ?? ''));
  const change = changes.since(mark, destination, path ?? { link: null, gateway: null });
  return change === null ? null : failure('node', 'local', `this node ${change}: ${seen.message}`);
}

type FailedOutcomeView = Pick<Exclude<Outcome, { status: 'up' }>, 'address' | 'failure'>;

async function ownFault(address: string): Promise<Failure | null> {
  const netlink = await loadNetlink();
  const reason = netlink === null ? null : routeFault(netlink, address);
  if (reason !== null) return failure('node', 'local', reason);
  if (await hasRoute(address)) return null;
  return failure('node', 'local', noRoute(address));
}

// Numbers of Linux (`linux/rtnetlink.h`, `linux/neighbour.h`, `linux/if.h`, `asm-generic/errno.h`).
const RTM_GETLINK = 18;
const RTM_GETROUTE = 26;
const RTM_GETNEIGH = 30;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_VIA = 18;
const NDA_DST = 1;
const NUD_INCOMPLETE = 0x01;
const NUD_FAILED = 0x20;
const IFF_LOWER_UP = 0x1_00_00;
const AF_INET = 2;
const AF_INET6 = 10;
const noRouteErrors: ReadonlySet<number> = new Set([101, 113]);
const refusingRoutes: ReadonlySet<number> = new Set([6, 7, 8]);
const headerBytes = 12;
const linkBytes = 16;

function routeFault(netlink: Netlink, address: string): string | null {
  const destination = Buffer.from(ipaddr.parse(address).toByteArray());
  const path = pathTo(netlink, destination);
  if (path === 'none') return noRoute(address);
  const { link = null, gateway = null } = path ?? {};
  if (link === null) return null;
  if (!isUp(netlink, link)) return "the link of this node's interface is down";
  if (gateway === null || isReachable(netlink, link, gateway)) return null;
  return `the gateway of this node does not answer (${ipaddr.fromByteArray([...gateway]).toString()})`;
}

// `none` if the routing tables have no way or refuse it, null if they do not say.
function pathTo(netlink: Netlink, destination: Buffer): NetworkPath | 'none' | null {
  const question = Buffer.alloc(headerBytes);
  question[0] = familyOf(destination);
  question[1] = destination.length * 8;
  const route = netlink.ask(RTM_GETROUTE, question, [{ type: RTA_DST, value: destination }]);
  if (typeof route === 'number') return noRouteErrors.has(route) ? 'none' : null;
  if (route === null) return null;
  if (refusingRoutes.has(route[7] ?? 0)) return 'none';
  const attributes = attributesOf(route, headerBytes);
  const link = attributes.get(RTA_OIF)?.readInt32LE(0) ?? null;
  return { link, gateway: attributes.get(RTA_GATEWAY) ?? attributes.get(RTA_VIA)?.subarray(2) ?? null };
}

function isUp(netlink: Netlink, link: number): boolean {
  const question = Buffer.alloc(linkBytes);
  question.writeInt32LE(link, 4);
  const answer = netlink.ask(RTM_GETLINK, question);
  return !(answer instanceof Buffer) || (answer.readUInt32LE(8) & IFF_LOWER_UP) !== 0;
}

// An entry that is not there says nothing: only one whose questions stay unanswered does.
function isReachable(netlink: Netlink, link: number, gateway: Buffer): boolean {
  const question = Buffer.alloc(headerBytes);
  question[0] = familyOf(gateway);
  question.writeInt32LE(link, 4);
  const answer = netlink.ask(RTM_GETNEIGH, question, [{ type: NDA_DST, value: gateway }]);
  return !(answer instanceof Buffer) || (answer.readUInt16LE(8) & (NUD_INCOMPLETE | NUD_FAILED)) === 0;
}

function familyOf(address: Buffer): number {
  return address.length === 4 ? AF_INET : AF_INET6;
}

function noRoute(address: string): string {
  return `this node has no route to IPv${isIPv6(address) ? 6 : 4} address ${address}`;
}

// Connecting a datagram socket looks up the route and sends nothing.
async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.once('connect', () => resolve(true));
      socket.connect(9, address);
    });
  } finally {
    socket.close();
  }
}
