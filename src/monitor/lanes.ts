import type { Delivery } from './delivery.ts';
import type { PendingDelivery } from './ports.ts';

/** What is pending about one incident for one recipient of one channel: its messages go out one after the other. */
export interface Thread {
  readonly key: string;
  readonly lane: string;
  readonly channel: string;
  readonly recipient: string;
  readonly pending: readonly [PendingDelivery, ...PendingDelivery[]];
  readonly deliveries: readonly Delivery[];
}

/**
 * Who is next: one message at a time for each recipient of a channel, `concurrency` at a time for the channel, and the
 * recipient who waited longest first. So nobody who hangs holds up another, and everybody gets things in order.
 */
export interface Lanes {
  /** Replaces what waits by these deliveries, oldest first, except for threads on their way and the ids in `settled`. */
  fill(rows: readonly PendingDelivery[], settled: ReadonlySet<number>): void;
  /** The thread to start now, or null where nothing waits or everything is taken. */
  take(): Thread | null;
  release(thread: Thread): void;
  readonly isEmpty: boolean;
  /** True when `fill` passed over a thread that was on its way and has been released since. */
  readonly hasNews: boolean;
}

export function createLanes(concurrency: number): Lanes {
  let waiting = new Map<string, Thread[]>();
  const onTheirWay = new Map<string, Thread>();
  const passedOver = new Set<string>();
  const lastTurn = new Map<string, number>();
  let turn = 0;

  function isFree({ lane, channel }: Thread): boolean {
    const others = [...onTheirWay.values()].filter((other) => other.channel === channel);
    return others.length < concurrency && others.every((other) => other.lane !== lane);
  }

  return {
    fill(rows, settled) {
      waiting = new Map();
      passedOver.clear();
      for (const thread of threadsOf(rows.filter(({ delivery }) => !settled.has(delivery.id)))) {
        const lane = waiting.get(thread.lane);
        if (onTheirWay.has(thread.key)) passedOver.add(thread.key);
        else if (lane === undefined) waiting.set(thread.lane, [thread]);
        else lane.push(thread);
      }
    },
    take() {
      const turnOf = ({ lane }: Thread) => lastTurn.get(lane) ?? 0;
      let next: Thread | null = null;
      for (const [thread] of waiting.values()) {
        if (thread !== undefined && isFree(thread) && (next === null || turnOf(thread) < turnOf(next))) next = thread;
      }
      if (next === null) return null;
      turn += 1;
      lastTurn.set(next.lane, turn);
      onTheirWay.set(next.key, next);
      const lane = waiting.get(next.lane);
      lane?.shift();
      if (lane?.length === 0) waiting.delete(next.lane);
      return next;
    },
    release(thread) {
      onTheirWay.delete(thread.key);
    },
    get isEmpty() {
      return waiting.size === 0;
    },
    get hasNews() {
      return [...passedOver].some((key) => !onTheirWay.has(key));
    },
  };
}

function threadsOf(rows: readonly PendingDelivery[]): Iterable<Thread> {
  const threads = new Map<string, Thread>();
  for (const row of rows) {
    const { channel, recipient, incidentId } = row.delivery;
    const lane = JSON.stringify([channel, recipient]);
    const key = JSON.stringify([channel, recipient, incidentId]);
    const known = threads.get(key);
    threads.set(key, {
      key,
      lane,
      channel,
      recipient,
      pending: known === undefined ? [row] : [...known.pending, row],
      deliveries: [...(known?.deliveries ?? []), row.delivery],
    });
  }
  return threads.values();
}
