import { isIP } from 'node:net';
import type { ProbeEnvironment } from '../check.ts';
import type { PinnedAddress, GateRefusal } from '../gate.ts';
import { failure } from '../outcome.ts';
import type { Network } from '../reach.ts';
import type { Detail } from './detail.ts';
import type { Head } from './head.ts';
import { type HopResult, sendRequest, type HopSettings } from './hop.ts';
import { followRedirect, type HopRequest, type Redirect, urlOf, visitOf } from './redirect.ts';
import type { Stopwatch } from './stopwatch.ts';

/** What the last of several requests brought, and the way to it. */
export interface RedirectResult extends HopResult {
  readonly hops: Detail['hops'];
  /** The address of the last request, or null if none was pinned. */
  readonly address: string | null;
  /** Where the last request went, or was to go. */
  readonly url: string;
}

/** What there is where no request was sent. */
export const unsent: Omit<HopResult, 'failure'> = {
  timedBy: null,
  certificate: null,
  tlsProtocol: null,
  head: null,
  body: null,
};

export interface FollowOptions {
  readonly spec: HopSettings;
  readonly environment: ProbeEnvironment;
  readonly network: Network;
  readonly watch: Stopwatch;
  readonly keep: boolean;
  /** Called with all that is read of the last body. */
  readonly onBytes?: (bytes: Buffer) => void;
}

/** Sends a request and those that it is redirected to, each to an address that the gate has let through. */
export async function follow(
  first: HopRequest,
  start: PinnedAddress | GateRefusal,
  options: FollowOptions,
): Promise<RedirectResult> {
  const { spec, network, watch } = options;
  const visited = new Set<string>();
  const isVisited = (other: HopRequest) => visited.has(visitOf(other));
  const hops: Detail['hops'] = [];
  let request = first;
  let pinned = start;
  for (;;) {
    visited.add(visitOf(request));
    const sent = request;
    const history = { sent: visited.size, isVisited, limit: spec.redirects };
    const next = ({ status, headers }: Head): Redirect => followRedirect(sent, status, headers.location, history);
    if (!pinned.ok) return { ...unsent, hops, address: null, url: urlOf(request.target), failure: pinned.failure };
    const wantsBody = (head: Head) => next(head).kind === 'final';
    const result = await sendRequest(sent, pinned, { ...options, wantsBody });
    const redirect = result.head === null || result.failure !== null ? null : next(result.head);
    if (result.head === null || redirect?.kind !== 'follow') {
      const failure = redirect?.kind === 'refused' ? redirect.failure : result.failure;
      return { ...result, failure, hops, address: pinned.address, url: urlOf(sent.target) };
    }
    hops.push({ url: urlOf(sent.target), status: result.head.status });
    request = redirect.next;
    // A proxy finds the others by itself.
    if (spec.proxy === undefined) pinned = await pinRedirectAddress(request, network, watch);
  }
}

async function pinRedirectAddress(
  { target, sameOrigin }: HopRequest,
  network: Network,
  watch: Stopwatch,
): Promise<PinnedAddress | GateRefusal> {
  const pinned = await network.pin(target.name);
  if (isIP(target.name) === 0) watch.add('resolve', pinned.seconds);
  if (pinned.ok || sameOrigin) return pinned;
  const { source, code, message } = pinned.failure;
  return { ...pinned, failure: failure(source, code, `redirect to ${target.name}: ${message}`) };
}
