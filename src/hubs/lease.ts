// Who leads. Clocks of hubs are never compared: each measures by its own monotonic clock how long ago it saw a change.

/** What the key of the lease says. */
export interface Lease {
  readonly hub: string;
  /** Each take-over has a higher one than all before it. */
  readonly epoch: number;
  /** Counts changes of the key; a change is accepted only from a hub that knows the last one. */
  readonly revision: number;
  /** Whether its holder has handed it over. */
  readonly isReleased: boolean;
}

export interface LeaseTimes {
  readonly renewEveryMs: number;
  /** A follower may take a lease that has not changed for so long. */
  readonly takeAfterMs: number;
  /** A leader stops if its last renewal was requested longer ago. Less than `takeAfterMs`. */
  readonly stopAfterMs: number;
}

export const leaseTimes: LeaseTimes = { renewEveryMs: 3_000, takeAfterMs: 10_000, stopAfterMs: 8_000 };

// As long as a leader tries to reach NATS before it goes on alone.
const longestGapMs = 5_000;

/** A lease as one hub sees it. */
export interface ObservedLease {
  /** Null if there is none. */
  readonly lease: Lease | null;
  /** When this hub saw its last change, by its own monotonic clock. */
  readonly changedAt: number;
  /** When it last looked. */
  readonly lookedAt: number;
}

/**
 * The lease after another look at the key. After a time without looks, because NATS was away or this process was suspended, the wait
 * for a change begins anew: a leader that went on alone comes back first.
 */
export function observeLease(before: ObservedLease | null, lease: Lease | null, now: number): ObservedLease {
  const isSame = before !== null && before.lease?.revision === lease?.revision && now - before.lookedAt <= longestGapMs;
  return { lease, changedAt: isSame ? before.changedAt : now, lookedAt: now };
}

/** Whether a follower may try to take it. */
export function canTake({ lease, changedAt }: ObservedLease, now: number, times: LeaseTimes): boolean {
  return lease === null || lease.isReleased || now - changedAt >= times.takeAfterMs;
}

/** The epoch of a hub that takes the lease: higher than any that it has heard of. */
export function nextEpoch({ lease }: ObservedLease, position: { readonly epoch: number }): number {
  return Math.max(lease?.epoch ?? 0, position.epoch) + 1;
}

/** Whether the lease is still held, by when its last successful renewal was requested. */
export function isHeld(renewedAt: number, now: number, times: LeaseTimes): boolean {
  return now - renewedAt < times.stopAfterMs;
}
