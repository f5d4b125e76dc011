import { type SequenceEntry, Sequence } from '#kernel/sequence.ts';
import { createSilentClients } from './silent-clients.ts';

export type ConnectionState = 'idle' | 'busy' | 'waiting';

/** Who connects, and since when it has been idle or busy, or has waited to ask something. */
export interface KnownConnection {
  /** An IPv4 address or an IPv6 network of 56 bits; null for this machine itself. */
  readonly client: string | null;
  readonly isExempt: boolean;
  /** Whether a whole request has come over it. */
  readonly hasAsked: boolean;
  readonly state: ConnectionState;
  /** Since when it is in this state, by the clock of the table. */
  readonly since: number;
}

interface TableEntry extends KnownConnection {
  hasAsked: boolean;
  state: ConnectionState;
  since: number;
  place: SequenceEntry;
}

/** The connections of a server: those that are held, and those that wait beside them and take no room. */
export interface ConnectionTable<One> {
  /** How many are held, of all but this machine. */
  readonly others: number;
  /** How many are held, of everyone. */
  readonly held: number;
  readonly waiting: number;
  heldBy(client: string): number;
  waitingOf(client: string): number;
  /** The client that holds the most. */
  largest(): { readonly client: string; readonly count: number };
  /** Whether connections of this client ended lately without a request, and none has come since. */
  isSilent(client: string): boolean;
  add(connection: One, client: string | null, isExempt: boolean, state: ConnectionState): void;
  get(connection: One): KnownConnection | undefined;
  /** Notes that a whole request has come. */
  asked(connection: One): void;
  /** From `waiting` to another state it takes room. */
  enter(connection: One, state: 'idle' | 'busy'): void;
  forget(connection: One): void;
  /** The held one that matches and is longest in its state, an idle one if there is any. */
  find(matches: (known: KnownConnection) => boolean): One | null;
  /** Those that have no request, in the order in which they became so. */
  withoutRequest(): readonly One[];
}

/** `now` gives milliseconds that only grow. */
export function createConnectionTable<One>(now: () => number): ConnectionTable<One> {
  const entries = new Map<One, TableEntry>();
  // Each in the order in which they became so. Node's own closeIdleConnections leaves those that never sent a request.
  const order = { idle: new Sequence<One>(), busy: new Sequence<One>(), waiting: new Sequence<One>() };
  const held = createTally();
  const waiting = createTally();
  const silent = createSilentClients(now);

  return {
    get others() {
      return held.all;
    },
    get held() {
      return order.idle.size + order.busy.size;
    },
    get waiting() {
      return order.waiting.size;
    },
    heldBy: held.of,
    waitingOf: waiting.of,
    largest: () => held.largest(),
    isSilent: (client) => silent.has(client),
    add(connection, client, isExempt, state) {
      const place = order[state].add(connection);
      entries.set(connection, { client, isExempt, hasAsked: false, state, since: now(), place });
      if (client !== null) (state === 'waiting' ? waiting : held).add(client);
    },
    get: (connection) => entries.get(connection),
    asked(connection) {
      const entry = entries.get(connection);
      if (entry === undefined) return;
      entry.hasAsked = true;
      if (entry.client !== null) silent.asked(entry.client);
    },
    enter(connection, state) {
      const entry = entries.get(connection);
      if (entry === undefined || entry.state === state) return;
      if (entry.state === 'waiting' && entry.client !== null) {
        waiting.remove(entry.client);
        held.add(entry.client);
      }
      entry.place.leave();
      entry.state = state;
      entry.since = now();
      entry.place = order[state].add(connection);
    },
    forget(connection) {
      const entry = entries.get(connection);
      if (entry === undefined) return;
      entry.place.leave();
      entries.delete(connection);
      if (entry.client === null) return;
      (entry.state === 'waiting' ? waiting : held).remove(entry.client);
      if (!entry.hasAsked && !entry.isExempt) silent.wasSilent(entry.client);
    },
    find(matches) {
      const isIt = (connection: One) => {
        const entry = entries.get(connection);
        return entry !== undefined && matches(entry);
      };
      return order.idle.find(isIt) ?? order.busy.find(isIt);
    },
    withoutRequest: () => [...order.idle.items(), ...order.waiting.items()],
  };
}

/** How many connections there are of each client, and of all. */
function createTally() {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    get all() {
      return all;
    },
    of: (client: string) => counts.get(client) ?? 0,
    add(client: string): void {
      all += 1;
      counts.set(client, (counts.get(client) ?? 0) + 1);
    },
    remove(client: string): void {
      all -= 1;
      const left = (counts.get(client) ?? 1) - 1;
      if (left === 0) counts.delete(client);
      else counts.set(client, left);
    },
    largest(): { readonly client: string; readonly count: number } {
      let largest = { client: '', count: 0 };
      for (const [client, count] of counts) if (count > largest.count) largest = { client, count };
      return largest;
    },
  };
}
