import type { Clock } from '#kernel/clock.ts';
import { dayMs } from '#kernel/units.ts';
import type { Delivery, PendingDelivery } from '../judge/delivery.ts';
import type { DeliveryPolicy } from './delivery-policy.ts';
import { type NextMessage, nextMessage, type RequestedPause, type SentBefore } from './next-message.ts';

/** One recipient of one channel. */
export interface QueueAddress {
  readonly channel: string;
  readonly recipient: string;
}

/** What is to be done for a recipient, who gets nothing else about its incidents until it is released. */
export interface MessageDispatch extends QueueAddress {
  readonly policy: DeliveryPolicy;
  readonly next: Exclude<NextMessage, { kind: 'wait' }>;
}

export interface RecipientQueuesOptions {
  readonly clock: Clock;
  /** How many messages of a channel are on their way at the same time. */
  readonly concurrency: number;
  readonly policyOf: (address: QueueAddress) => DeliveryPolicy;
  /** The time for which the other side asked not to be called. */
  readonly pauseOf?: (address: QueueAddress) => RequestedPause | undefined;
}

/**
 * Who is next: one message at a time for each recipient of a channel, `concurrency` at a time for the channel, and the
 * recipient who waited longest first. A recipient that takes longer than a few seconds, or did so the last time, counts against a limit of its own.
 * So no recipient who hangs holds up another. A message that lingers holds up only what is about the same incidents, which
 * stays in order.
 */
export interface RecipientQueues {
  /** Replaces what waits, except for what has to wait for a message that is on its way. */
  fill(rows: readonly PendingDelivery[]): void;
  /** What to start now, or null if nothing may start. A recipient has one for each `fill` and each release. */
  take(): MessageDispatch | null;
  /** Its recipient may get the next message about other incidents, out of what was read before. */
  release(dispatch: MessageDispatch): void;
  /** A message went out: it counts for what may follow. `ageMs` is how long ago. */
  remember(address: QueueAddress, message: Omit<SentBefore, 'at'>, ageMs: number): void;
  /** The wall time of the earliest message: now if one has become due since something was taken, Infinity if there is none. */
  nextAt(): number;
}

interface StartedMessage {
  readonly key: string;
  readonly channel: string;
  /** The incidents that the message is about. */
  readonly incidents: ReadonlySet<string>;
  /** On the monotonic clock. */
  readonly at: number;
  /** Whether the recipient took long the last time. */
  readonly isSlow: boolean;
}

interface BusyRecipient {
  /** Whether it may get another message. */
  readonly isFree: boolean;
  /** What it gets nothing else about for now. */
  readonly incidents: ReadonlySet<string>;
}

interface PendingMessage extends QueueAddress {
  readonly rows: PendingDelivery[];
}

// From then on an attempt takes none of the rooms of those who answer.
const lingersAfterMs = 5_000;
// Each may be a connection to one server: more would be unkind to it. Servers commonly allow 50 of one client.
const roomsForLingering = 40;
// For one recipient: a server that hangs need not have a connection for each incident.
const mostOfRecipient = 4;
// Longer than any interval or storm that can be configured.
const memoryMs = 2 * dayMs;

export function createRecipientQueues({
  clock,
  concurrency,
  policyOf,
  pauseOf,
}: RecipientQueuesOptions): RecipientQueues {
  /** The recipient who waits longest first. */
  const waiting = new Map<string, PendingMessage>();
  /** What waits for the message that is on its way to the same recipient. */
  const behind = new Map<string, PendingMessage>();
  const onTheWay = new Map<MessageDispatch, StartedMessage>();
  const slow = new Set<string>();
  const lastServed = new Map<string, number>();
  const sent = new Map<string, SentBefore[]>();
  let served = 0;

  function hasRoom(key: string, channel: string): boolean {
    const now = clock.elapsed();
    const others = [...onTheWay.values()].filter((other) => other.channel === channel);
    const lingering = others.filter(({ isSlow, at }) => isSlow || now - at >= lingersAfterMs).length;
    if (slow.has(key)) return lingering < roomsForLingering;
    return others.length - Math.min(lingering, roomsForLingering) < concurrency;
  }

  const roomsOf = (key: string, channel: string) => `${channel} ${slow.has(key)}`;

  function busyOf(key: string): BusyRecipient {
    const own = [...onTheWay.values()].filter((one) => one.key === key);
    const now = clock.elapsed();
    const isFree = own.length < mostOfRecipient && own.every(({ at }) => now - at >= lingersAfterMs);
    return { isFree, incidents: new Set(own.flatMap(({ incidents }) => [...incidents])) };
  }

  function nextOf(key: string, { rows, ...address }: PendingMessage): NextMessage {
    const wallAhead = clock.now() - clock.elapsed();
    const before = (sent.get(key) ?? []).map((one) => ({ ...one, at: one.at + wallAhead }));
    const requestedPause = pauseOf?.(address);
    return nextMessage({ rows, sent: before, requestedPause }, policyOf(address), clock.now());
  }

  return {
    fill(rows) {
      waiting.clear();
      behind.clear();
      const busy = new Map<string, BusyRecipient>();
      for (const row of rows) {
        const { channel, recipient, incidentId } = row.delivery;
        const key = keyOf({ channel, recipient });
        const { isFree, incidents } = busy.get(key) ?? busyOf(key);
        if (!busy.has(key)) busy.set(key, { isFree, incidents });
        if (incidents.has(incidentId)) continue;
        const queues = isFree ? waiting : behind;
        const known = queues.get(key);
        if (known === undefined) queues.set(key, { channel, recipient, rows: [row] });
        else known.rows.push(row);
      }
      const longestFirst = [...waiting].sort(([a], [b]) => (lastServed.get(a) ?? 0) - (lastServed.get(b) ?? 0));
      waiting.clear();
      for (const [key, queue] of longestFirst) waiting.set(key, queue);
    },
    take() {
      for (const [key, queue] of thoseWithRoom(waiting, roomsOf, hasRoom)) {
        const { channel, recipient } = queue;
        const next = nextOf(key, queue);
        if (next.kind === 'wait') continue;
        served += 1;
        lastServed.set(key, served);
        waiting.delete(key);
        const dispatch = { channel, recipient, policy: policyOf(queue), next };
        const incidents = new Set(deliveriesOf(next).map(({ incidentId }) => incidentId));
        onTheWay.set(dispatch, { key, channel, incidents, at: clock.elapsed(), isSlow: slow.has(key) });
        const rows = queue.rows.filter(({ delivery }) => !incidents.has(delivery.incidentId));
        if (rows.length > 0) behind.set(key, { channel, recipient, rows });
        return dispatch;
      }
      return null;
    },
    release(dispatch) {
      const key = keyOf(dispatch);
      const begun = onTheWay.get(dispatch);
      if (begun !== undefined && clock.elapsed() - begun.at >= lingersAfterMs) slow.add(key);
      else slow.delete(key);
      onTheWay.delete(dispatch);
      const next = behind.get(key);
      if (next === undefined || !busyOf(key).isFree) return;
      behind.delete(key);
      waiting.set(key, next);
    },
    remember(address, message, ageMs) {
      const key = keyOf(address);
      const now = clock.elapsed();
      const recent = (sent.get(key) ?? []).filter(({ at }) => at > now - memoryMs);
      const all = [...recent, { ...message, at: now - Math.max(ageMs, 0) }];
      sent.set(
        key,
        all.toSorted((a, b) => a.at - b.at),
      );
    },
    nextAt() {
      const nexts = [...waiting].map(([key, queue]) => nextOf(key, queue));
      return Math.min(...nexts.map((one) => (one.kind === 'wait' ? one.until : clock.now())));
    },
  };
}

// Thousands may wait for the same rooms: whether these are full is found out once.
function* thoseWithRoom(
  waiting: ReadonlyMap<string, PendingMessage>,
  roomsOf: (key: string, channel: string) => string,
  hasRoom: (key: string, channel: string) => boolean,
): Generator<readonly [string, PendingMessage]> {
  const full = new Set<string>();
  for (const [key, queue] of waiting) {
    const rooms = roomsOf(key, queue.channel);
    if (full.has(rooms)) continue;
    if (hasRoom(key, queue.channel)) yield [key, queue];
    else full.add(rooms);
  }
}

/** All deliveries that a message settles. */
export function deliveriesOf(next: MessageDispatch['next']): readonly Delivery[] {
  if (next.kind === 'drop') return next.rows.map(({ delivery }) => delivery);
  return next.parts.flatMap(({ sent, merged }) => [sent, ...merged]);
}

/** An address as one text. */
export function keyOf({ channel, recipient }: QueueAddress): string {
  return JSON.stringify([channel, recipient]);
}
