import type { Socket } from 'node:net';
import { isLoopback, siteOf } from '#kernel/network.ts';
import { createConnectionTable, type KnownConnection } from './connection-table.ts';

export interface ConnectionLimits {
  /** The most connections at the same time, without those that wait. */
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
  /**
   * A request has arrived whole, or was answered: a connection is idle until its first one and between two of them. One that waited is
   * destroyed if there is no room for it.
   */
  busy(connection: One): void;
  idle(connection: One): void;
  closed(connection: One): void;
  /** Cuts those without a running request, those that never sent one included. */
  cutIdle(): void;
  /** Whether only the reserved room is left: then only what is reserved may be answered. */
  readonly isCrowded: boolean;
}

// A request that runs for longer is a long poll, a stream, or read slowly: worth less than a new client.
const longMs = 5_000;
// A client that has something to ask does so at once.
const silentMs = 2_000;
// One connection in twenty is reserved for job pings, status pages, login and health.
const reservedShare = 20;

/**
 * Decides who may be connected, by what each client holds already. Idle is a connection without a whole request, or with one that has
 * run for five seconds.
 *
 * 1. A client may have `perClient` connections. Its longest idle one is cut for a new one; if none is idle, the new one is refused.
 * 2. If there is no room for anyone, the connection is cut that has asked nothing for the longest, two seconds at least; otherwise the
 *    client with the most connections loses one, the longest idle one first. Among equals the connection that has been idle the longest
 *    is cut. If none is idle, the new one gets the reserved room, and then none.
 * 3. A client that has only held connections comes back when they are cut: without room its next ones are let in to wait, beside the
 *    others and as many as they, and take room when a whole request comes.
 * 4. Some room is reserved for this machine, so that its health can always be checked. An exempt address (a trusted proxy speaks for
 *    many clients) has no limit of its own.
 */
export function createAdmission<One extends HttpConnection>(
  { connections, keptForLoopback, perClient }: ConnectionLimits,
  now: () => number,
  isExempt: (address: string) => boolean = () => false,
): Admission<One> {
  const table = createConnectionTable<One>(now);
  const room = connections - keptForLoopback;
  const openRoom = room - Math.floor(room / reservedShare);

  // The longest idle one of those, or the one whose request has run for the longest. Never one of this machine.
  function closeOne(isIt: (known: KnownConnection) => boolean, leastMs = longMs): boolean {
    const at = now();
    const found = table.find(
      (known) => known.client !== null && isIt(known) && (known.state === 'idle' || at - known.since >= leastMs),
    );
    if (found === null) return false;
    table.forget(found);
    found.destroy();
    return true;
  }

  function makeRoom(client: string): boolean {
    const before = now() - silentMs;
    if (closeOne(({ hasAsked, since, isExempt: exempt }) => !hasAsked && since <= before && !exempt)) return true;
    const { client: largest, count } = table.largest();
    const own = table.heldBy(client) + 1;
    if (count > own && closeOne((known) => known.client === largest && !known.isExempt, 0)) return true;
    if (count <= own && own > 1) return closeOne((known) => known.client === client);
    return closeOne((known) => !known.isExempt) || closeOne(() => true);
  }

  function hasRoom(client: string, exempt: boolean): boolean {
    const isOverOwn = table.heldBy(client) >= perClient && !exempt;
    if (isOverOwn && !closeOne((known) => known.client === client)) return false;
    if (table.others < openRoom || makeRoom(client)) return true;
    return table.others < room && (exempt || table.heldBy(client) === 0);
  }

  return {
    get isCrowded() {
      return table.others > openRoom;
    },
    admit(connection) {
      const { remoteAddress = '' } = connection;
      const client = isLoopback(remoteAddress) ? null : siteOf(remoteAddress);
      const exempt = client !== null && isExempt(remoteAddress);
      const isToWait = client !== null && !exempt && table.others >= openRoom && table.isSilent(client);
      const isIn = isToWait
        ? table.waiting < connections && table.waitingOf(client) < perClient
        : client === null
          ? table.held < connections
          : hasRoom(client, exempt);
      if (isIn) table.add(connection, client, exempt, isToWait ? 'waiting' : 'idle');
      return isIn;
    },
    busy(connection) {
      const known = table.get(connection);
      if (known === undefined) return;
      table.asked(connection);
      if (known.state !== 'waiting' || known.client === null || hasRoom(known.client, known.isExempt)) {
        table.enter(connection, 'busy');
        return;
      }
      table.forget(connection);
      connection.destroy();
    },
    idle(connection) {
      // One whose body never came whole still waits.
      if (table.get(connection)?.state === 'busy') table.enter(connection, 'idle');
    },
    closed: (connection) => table.forget(connection),
    cutIdle() {
      for (const connection of table.withoutRequest()) connection.destroy();
    },
  };
}

/** Whether a request is for what has reserved room: job pings, status pages and badges, login, health. */
export function isReserved(url: string): boolean {
  return /^\/(?:beat\/|(?:status|login|healthz|readyz)(?:[/?]|$)|badge\/)/.test(url);
}
