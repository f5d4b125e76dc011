import type { Clock } from '#kernel/clock.ts';
import { type Plan, plan, type Went } from './plan.ts';
import type { DeliveryPolicy } from './policy.ts';
import type { PendingDelivery } from './ports.ts';

/** One recipient of one channel. */
export interface Address {
  readonly channel: string;
  readonly recipient: string;
}

/** What is to be done for a recipient, who gets nothing else until it is released. */
export interface Turn extends Address {
  readonly policy: DeliveryPolicy;
  readonly plan: Exclude<Plan, { kind: 'wait' }>;
}

export interface LanesOptions {
  readonly clock: Clock;
  /** How many messages of a channel are on their way at the same time. */
  readonly concurrency: number;
  readonly policyOf: (address: Address) => DeliveryPolicy;
}

/**
 * Who is next: one message at a time for each recipient of a channel, `concurrency` at a time for the channel, and the
 * recipient who waited longest first. So nobody who hangs holds up another, and everybody gets things in order.
 */
export interface Lanes {
  /** Replaces what waits, except for recipients to whom a message is on its way. */
  fill(rows: readonly PendingDelivery[]): void;
  /** The turn to start now, or null where nothing may start. A recipient has one turn for each `fill`. */
  take(): Turn | null;
  release(address: Address): void;
  /** A message went out: it counts for what may follow. `ageMs` is how long ago. */
  remember(address: Address, sort: string, ageMs: number): void;
  /** The wall time of the earliest turn that cannot be taken yet, or Infinity. */
  nextAt(): number;
}

interface Waiting extends Address {
  readonly rows: readonly PendingDelivery[];
}

// Longer than any interval or storm that can be configured.
const memoryMs = 2 * 86_400_000;

export function createLanes({ clock, concurrency, policyOf }: LanesOptions): Lanes {
  const waiting = new Map<string, Waiting>();
  const onTheirWay = new Map<string, Address>();
  const lastTurn = new Map<string, number>();
  const went = new Map<string, Went[]>();
  let turn = 0;

  function hasRoom(channel: string): boolean {
    return [...onTheirWay.values()].filter((other) => other.channel === channel).length < concurrency;
  }

  function planOf(key: string, { rows, ...address }: Waiting): Plan {
    const wallAhead = clock.now() - clock.elapsed();
    const sent = (went.get(key) ?? []).map(({ sort, at }) => ({ sort, at: at + wallAhead }));
    return plan({ rows, sent }, policyOf(address), clock.now());
  }

  return {
    fill(rows) {
      waiting.clear();
      for (const row of rows) {
        const { channel, recipient } = row.delivery;
        const key = keyOf({ channel, recipient });
        if (onTheirWay.has(key)) continue;
        const known = waiting.get(key);
        waiting.set(key, { channel, recipient, rows: [...(known?.rows ?? []), row] });
      }
    },
    take() {
      const inTurn = [...waiting].sort(([a], [b]) => (lastTurn.get(a) ?? 0) - (lastTurn.get(b) ?? 0));
      for (const [key, lane] of inTurn) {
        if (!hasRoom(lane.channel)) continue;
        const { channel, recipient } = lane;
        const next = planOf(key, lane);
        if (next.kind === 'wait') continue;
        turn += 1;
        lastTurn.set(key, turn);
        waiting.delete(key);
        onTheirWay.set(key, { channel, recipient });
        return { channel, recipient, policy: policyOf(lane), plan: next };
      }
      return null;
    },
    release(address) {
      onTheirWay.delete(keyOf(address));
    },
    remember(address, sort, ageMs) {
      const key = keyOf(address);
      const now = clock.elapsed();
      const recent = (went.get(key) ?? []).filter(({ at }) => at > now - memoryMs);
      went.set(key, [...recent, { sort, at: now - Math.max(ageMs, 0) }]);
    },
    nextAt() {
      const plans = [...waiting].map(([key, lane]) => planOf(key, lane));
      return Math.min(...plans.map((one) => (one.kind === 'wait' ? one.until : Number.POSITIVE_INFINITY)));
    },
  };
}

function keyOf({ channel, recipient }: Address): string {
  return JSON.stringify([channel, recipient]);
}
