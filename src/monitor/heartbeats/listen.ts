import { checkOf, failed, type Outcome } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import type { HeartbeatState } from '../judge/heard.ts';
import type { Target } from '../judge/target.ts';
import { createExpected } from './expected.ts';
import { type Alarm, type Ping, hasTimeLeft, newlyHeard, nextAlarm, notHeardAfter, takeBeat } from './hear.ts';

/** Waits for the pings of one job: for a target that pings, this is what a watch is for one that is checked. */
export interface PingListener {
  readonly ended: Promise<void>;
  /** Takes a call. Resolves to whether it is stored; what is not may come again, and counts once if it names its run. */
  take(beat: Ping): Promise<boolean>;
  /** Says once more what is wrong, if something is. */
  request(): void;
  stop(): void;
}

/** The state of a target that pings, at a moment. */
export interface PingRound {
  readonly dueAt: number;
  readonly outcome: Outcome;
}

export interface ListenPorts {
  readonly clock: Clock;
  /** What was heard before, or null if it is new. */
  readonly heard: HeartbeatState | null;
  /** Since when calls can be heard without a break; null while they cannot. */
  readonly hearsSince: () => number | null;
  /** The job is overdue at this moment. */
  readonly awaited: (dueAt: number) => void;
  /** Keeps what is known, with the round that it made. Resolves to whether it is stored. */
  readonly keep: (heard: HeartbeatState, round: PingRound | null) => Promise<boolean>;
}

const notLate: Outcome = {
  status: 'up',
  seconds: null,
  address: null,
  phases: {},
  facts: {},
  detail: { exit_code: null, log: [] },
};
const longestNapMs = 60_000;
const deafNapMs = 5_000;

/** Makes rounds from the pings of a target: each end of a run, and each time that it is overdue. Null for a target that nodes check. */
export function startListening(target: Target, ports: ListenPorts): PingListener | null {
  const job = checkOf(target.spec.type).heard?.(target.spec) ?? null;
  if (job === null) return null;
  const { clock, awaited } = ports;
  const expected = createExpected(target.schedule, job);
  let begun = clock.now();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let heard = notHeardAfter(ports.heard ?? newlyHeard(begun), begun);
  let keeping: Promise<boolean> = Promise.resolve(true);
  let alarm: { readonly since: number; readonly heard: HeartbeatState; readonly next: Alarm | null } | null = null;
  let timer: Disposable | null = null;
  let isStopped = false;

  async function keep(next: HeartbeatState, round: PingRound | null): Promise<boolean> {
    heard = next;
    keeping = ports.keep(next, round);
    return keeping;
  }

  function alarmOf(able: number): Alarm | null {
    const now = clock.now();
    begun = Math.min(begun, now);
    heard = notHeardAfter(heard, now);
    const since = Math.max(able, begun);
    if (alarm?.heard !== heard || alarm.since !== since)
      alarm = { since, heard, next: nextAlarm(heard, expected, since) };
    return alarm.next;
  }

  function wait(): void {
    timer?.[Symbol.dispose]();
    if (isStopped) return;
    const able = ports.hearsSince();
    const next = able === null ? null : alarmOf(able);
    awaited(next?.at ?? Number.POSITIVE_INFINITY);
    const leftMs = able === null ? deafNapMs : (next?.at ?? Number.POSITIVE_INFINITY) - clock.now();
    timer = clock.after(Math.min(Math.max(leftMs, 0), longestNapMs), wake);
  }

  // By the schedule of before it was late; by this one it has time left.
  function extendDeadlines(): void {
    const now = clock.now();
    const { last } = heard;
    if (last?.failure?.code !== 'late' || !hasTimeLeft(heard, expected, now)) return;
    // That a run began since then does not say that it will end.
    if (heard.at !== null && heard.at > last.dueAt) return;
    const dueAt = Math.max(now, last.dueAt + 1);
    void keep({ ...heard, missedUntil: null, last: { dueAt, failure: null } }, { dueAt, outcome: notLate });
  }

  function wake(): void {
    const able = ports.hearsSince();
    const due = able === null ? null : alarmOf(able);
    if (due !== null && due.at <= clock.now()) void keep(due.heard, { dueAt: due.at, outcome: due.outcome });
    wait();
  }

  if (ports.heard === null) void keep(heard, null);
  else extendDeadlines();
  wait();
  return {
    ended,
    async take(beat) {
      if (isStopped) return false;
      const taken = takeBeat(notHeardAfter(heard, clock.now()), beat);
      if (taken.isRepeat) return (await keeping) || keep(heard, null);
      const { outcome } = taken;
      const kept = keep(taken.heard, outcome === null ? null : { dueAt: taken.heard.last?.dueAt ?? beat.at, outcome });
      wait();
      return kept;
    },
    request() {
      const { last } = heard;
      if (isStopped || last === null || last.failure === null) return;
      const dueAt = Math.max(clock.now(), last.dueAt + 1);
      void keep({ ...heard, last: { ...last, dueAt } }, { dueAt, outcome: failed(last.failure) });
    },
    stop() {
      isStopped = true;
      timer?.[Symbol.dispose]();
      resolve();
    },
  };
}
