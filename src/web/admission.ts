import type { Socket } from 'node:net';
import { isLoopback, siteOf } from '#kernel/network.ts';
import { type SequenceEntry, Sequence } from '#kernel/sequence.ts';

export interface ConnectionLimits {
  /** The most connections at the same time. */
  readonly connections: number;
  /** How many of them are reserved for this machine itself. */
  readonly keptForLoopback: number;
  /** The most of one client: an IPv4 address or an IPv6 network of 56 bits. */
  readonly perClient: number;
}

/** As much of a socket as it takes to let it in or not. */
export type HttpConnection = Pick<Socket, 'remoteAddress' | 'destroy'>;

export interface Admission<One extends HttpConnection> {
  /** Lets a new connection in, at the cost of another one if there is no room; false if it may not stay. */
  admit(connection: One): boolean;
  /** A request has arrived whole, or was answered: a connection is idle until its first one and between two of them. */
  busy(connection: One): void;
  idle(connection: One): void;
  closed(connection: One): void;
  /** Cuts those without a running request, those that never sent one included. */
  cutIdle(): void;
  /** Whether only the reserved room is left: then only what is reserved may be answered. */
  readonly isCrowded: boolean;
}

/** Who connects, and since when it has been idle or busy. */
interface AdmittedConnection {
  /** Null for this machine itself. */
  readonly client: string | null;
  readonly isExempt: boolean;
  state: 'idle' | 'busy';
  since: number;
  place: SequenceEntry;
}

// A request that runs for longer is a long poll, a stream, or read slowly: worth less than a new client.
const longMs = 5_000;
// One connection in twenty is reserved for job pings, status pages, login and health.
const reservedShare = 20;

/**
 * Decides who may be connected, by what each client holds already. Idle is a connection without a whole request, or with one that has
 * run for five seconds.
 *
 * 1. A client may have `perClient` connections. Its longest idle one is cut for a new one; if none is idle, the new one is refused.
 * 2. If there is no room for anyone, the client with the most connections loses one, the longest idle one first. Among equals the
 *    connection that has been idle the longest is cut. If none is idle, the new one gets the reserved room, and then none.
 * 3. Some room is reserved for this machine, so that its health can always be checked. An exempt address (a trusted proxy speaks for
 *    many clients) has no limit of its own.
 */
export function createAdmission<One extends HttpConnection>(
  { connections, keptForLoopback, perClient }: ConnectionLimits,
  now: () => number,
  isExempt: (address: string) => boolean = () => false,
): Admission<One> {
  // Each in the order in which they became so. Node's own closeIdleConnections leaves those that never sent a request.
  const order = { idle: new Sequence<One>(), busy: new Sequence<One>() };
  const admitted = new Map<One, AdmittedConnection>();
  const counts = new Map<string, number>();
  let others = 0;
  const room = connections - keptForLoopback;
  const openRoom = room - Math.floor(room / reservedShare);

  function forget(connection: One): void {
    const known = admitted.get(connection);
    if (known === undefined) return;
    known.place.leave();
    admitted.delete(connection);
    if (known.client === null) return;
    others -= 1;
    const left = (counts.get(known.client) ?? 1) - 1;
    if (left === 0) counts.delete(known.client);
    else counts.set(known.client, left);
  }

  function enter(connection: One, state: AdmittedConnection['state']): void {
    const known = admitted.get(connection);
    if (known === undefined || known.state === state) return;
    known.place.leave();
    known.state = state;
    known.since = now();
    known.place = order[state].add(connection);
  }

  // The longest idle connection of a client, or the one whose request has run for the longest.
  function closeLargest(isIt: (known: AdmittedConnection, client: string) => boolean, leastMs = longMs): boolean {
    const at = now();
    const matches = (connection: One) => {
      const known = admitted.get(connection);
      if (known === undefined || known.client === null || !isIt(known, known.client)) return false;
      return known.state === 'idle' || at - known.since >= leastMs;
    };
    const found = order.idle.find(matches) ?? order.busy.find(matches);
    if (found === null) return false;
    forget(found);
    found.destroy();
    return true;
  }

  function largestClient(): { readonly client: string; readonly count: number } {
    let largest = { client: '', count: 0 };
    for (const [client, count] of counts) if (count > largest.count) largest = { client, count };
    return largest;
  }

  function makeRoom(client: string): boolean {
    const { client: largest, count } = largestClient();
    const own = (counts.get(client) ?? 0) + 1;
    if (count > own && closeLargest((known, one) => one === largest && !known.isExempt, 0)) return true;
    if (count <= own && own > 1) return closeLargest((_, one) => one === client);
    return closeLargest(({ isExempt: exempt }) => !exempt) || closeLargest(() => true);
  }

  function hasRoom(client: string, exempt: boolean): boolean {
    const isOverOwn = (counts.get(client) ?? 0) >= perClient && !exempt;
    if (isOverOwn && !closeLargest((_, one) => one === client)) return false;
    if (others < openRoom || makeRoom(client)) return true;
    return others < room && (exempt || !counts.has(client));
  }

  return {
    get isCrowded() {
      return others > openRoom;
    },
    admit(connection) {
      const { remoteAddress = '' } = connection;
      const client = isLoopback(remoteAddress) ? null : siteOf(remoteAddress);
      const exempt = client !== null && isExempt(remoteAddress);
      if (client !== null) {
        if (!hasRoom(client, exempt)) return false;
        others += 1;
        counts.set(client, (counts.get(client) ?? 0) + 1);
      }
      const place = order.idle.add(connection);
      admitted.set(connection, { client, isExempt: exempt, state: 'idle', since: now(), place });
      return true;
    },
    busy: (connection) => enter(connection, 'busy'),
    idle: (connection) => enter(connection, 'idle'),
    closed: forget,
    cutIdle() {
      for (const connection of order.idle.items()) connection.destroy();
    },
  };
}

/** Whether a request is for what has reserved room: job pings, status pages and badges, login, health. */
export function isReserved(url: string): boolean {
  return /^\/(?:beat\/|(?:status|login|healthz|readyz)(?:[/?]|$)|badge\/)/.test(url);
}
