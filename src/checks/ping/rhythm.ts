import type { Clock } from '#kernel/clock.ts';

/** Something under way that now and then has something to do. */
export interface RhythmMember {
  /** When it is to be woken at the latest, on the clock's elapsed time; infinite if it need not be. */
  readonly until: number;
  /** Does what can be done by now, and tells whether it has sent something, which it must not if it may not. */
  beat(now: number, maySend: boolean): boolean;
}

/**
 * The common beat of all pings of a socket. At each beat the socket is read, and then everybody does what can be done by then: one
 * wake-up does for many. It comes when a ping cannot wait any longer or when one joins, and not at all without pings.
 */
export interface Rhythm {
  /** Beats for it at once, and from now on. */
  join(member: RhythmMember): void;
  leave(member: RhythmMember): void;
}

// A burst must not blur what it measures, and its answers must fit into the receive buffer.
const mostAtOnce = 32;
const pauseMs = 1;

export function createRhythm(clock: Clock, read: () => void): Rhythm {
  const members = new Set<RhythmMember>();
  // When the next member is to be woken. A variable that a callback sets would be a new object each time.
  const next = new Float64Array(1);
  let beatAt = Number.NEGATIVE_INFINITY;
  let timer: Disposable | null = null;
  let dueAt = Number.POSITIVE_INFINITY;

  function beat(): void {
    rest();
    read();
    const now = (beatAt = clock.elapsed());
    let sent = 0;
    next[0] = Number.POSITIVE_INFINITY;
    // An iterator would make an object for each of them.
    members.forEach((member) => {
      if (member.beat(now, sent < mostAtOnce)) sent += 1;
      next[0] = Math.min(next[0] ?? 0, member.until);
    });
    arm(sent === mostAtOnce ? Math.max(next[0], now + pauseMs) : next[0]);
  }

  function arm(at: number): void {
    if (at >= dueAt) return;
    rest();
    dueAt = at;
    timer = clock.after(at - clock.elapsed(), beat);
  }

  function rest(): void {
    timer?.[Symbol.dispose]();
    timer = null;
    dueAt = Number.POSITIVE_INFINITY;
  }

  return {
    join(member) {
      // Those that begin together share a beat.
      if (clock.elapsed() >= beatAt + pauseMs) beat();
      members.add(member);
      member.beat(clock.elapsed(), true);
      arm(member.until);
    },
    leave(member) {
      members.delete(member);
      if (members.size === 0) rest();
    },
  };
}
