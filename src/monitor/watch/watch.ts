import type { NodeSelection } from '#checks/index.ts';
import { type Clock, deadline, sleep } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { RoundRecord } from '../judge/round-record.ts';
import type { Target } from '../judge/target.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { Vote } from '../judge/vote.ts';
import { dueTimes } from '#schedule/due-times.ts';
import type { Runner } from './runner.ts';

/** What the nodes saw in a round. Times are wall time. */
export interface SeenRound {
  readonly dueAt: number;
  readonly startedAt: number;
  readonly votes: readonly Vote[];
}

/** A round that is over. */
export interface DoneRound extends SeenRound {
  readonly verdict: Verdict;
  readonly inMaintenance: boolean;
}

/** What the monitor tells whoever counts and shows. */
export interface MonitorEvents {
  /** The target's next round will be due at `dueAt`. */
  roundAwaited(target: Target, dueAt: number): void;
  roundSkipped(target: Target, count: number): void;
  roundDone(target: Target, round: DoneRound): void;
  recorded(record: RoundRecord): void;
}

export interface WatchPorts {
  readonly runner: Runner;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Pick<MonitorEvents, 'roundAwaited' | 'roundSkipped'>;
  /** Where a round goes when it is over. Resolves to whether another one at once would make sure of it. */
  take(round: SeenRound): Promise<boolean>;
}

/** The watch over one target. */
export interface Watch {
  /** Resolves when it has ended; rejects by a defect of ours only. */
  readonly ended: Promise<void>;
  /** Asks for a round besides the scheduled ones: at once, or a few seconds after the last one began. */
  request(): void;
  /** No new rounds from now on; one that runs goes on. */
  stop(): void;
}

// No check takes as long: what is beyond it is a hang of ours.
const roundLimitMs = 180_000;
// The pause before a round that makes sure of the last one.
const confirmAfterMs = 5_000;
const shortestGapMs = 3_000;

/**
 * Watches one target until it is stopped:
 *
 * 1. wait for the next due time; those that passed meanwhile are counted, never made up for;
 * 2. have the check run on the nodes; trouble of ours is a round without votes;
 * 3. hand on what they saw;
 * 4. where a failing round is to be confirmed, go on with 2 after a pause, on other nodes where there are any.
 *
 * `work` ends the round that runs.
 */
export function startWatch(target: Target, ports: WatchPorts, work: AbortSignal): Watch {
  const { clock, events } = ports;
  const schedule = new AbortController();
  const next = createNextDue(target.schedule, target.name);
  const awaitNext = (from: number) => events.roundAwaited(target, next(from) ?? Number.POSITIVE_INFINITY);
  const mostConfirmations = Math.max(0, ...target.rules.map(({ rule }) => (rule.confirm ? rule.rounds.bad - 1 : 0)));
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let extra: Promise<void> | null = null;
  let waiting: Disposable | null = null;
  let isBusy = false;
  let lastDueAt = Number.NEGATIVE_INFINITY;
  let lastStart = Number.NEGATIVE_INFINITY;

  async function followSchedule(): Promise<void> {
    awaitNext(clock.now());
    for await (const { dueAt, skipped } of dueTimes(target.schedule, target.name, clock, schedule.signal)) {
      await extra;
      if (skipped > 0) events.roundSkipped(target, skipped);
      awaitNext(clock.now());
      if (!work.aborted) await runRounds(dueAt);
    }
    waiting?.[Symbol.dispose]();
    await extra;
  }

  async function runRounds(dueAt: number): Promise<void> {
    isBusy = true;
    const asked = new Set<string>();
    let wantsMore = await runRound(dueAt, target.nodes, asked);
    for (let left = mostConfirmations; wantsMore && left > 0 && (await pause()); left -= 1) {
      wantsMore = await runRound(extraDueAt(), avoiding(target.nodes, asked), asked);
    }
    isBusy = false;
  }

  async function runRound(dueAt: number, nodes: NodeSelection, asked: Set<string>): Promise<boolean> {
    lastDueAt = dueAt;
    lastStart = clock.elapsed();
    const startedAt = clock.now();
    const votes = await collectVotes(target, nodes, dueAt, ports, work);
    if (work.aborted) return false;
    for (const { node } of votes) asked.add(node.name);
    return ports.take({ dueAt, startedAt, votes });
  }

  // Not where the next scheduled round is as near: that one will tell.
  async function pause(): Promise<boolean> {
    const tookMs = clock.elapsed() - lastStart;
    const due = next(clock.now());
    if (due !== null && due - clock.now() < confirmAfterMs + tookMs) return false;
    try {
      await sleep(clock, confirmAfterMs, schedule.signal);
      return true;
    } catch (error) {
      if (schedule.signal.aborted) return false;
      throw error;
    }
  }

  // Unlike any other due time, unless the clock was set back in between.
  function extraDueAt(): number {
    const now = clock.now();
    return lastDueAt >= now && lastDueAt < now + shortestGapMs ? lastDueAt + 1 : now;
  }

  function startExtra(): void {
    waiting = null;
    if (isBusy || schedule.signal.aborted) return;
    extra = runRounds(extraDueAt())
      .catch(reject)
      .finally(() => {
        extra = null;
      });
  }

  followSchedule().then(resolve, reject);
  return {
    ended,
    request() {
      if (isBusy || waiting !== null || schedule.signal.aborted) return;
      const waitMs = Math.max(0, lastStart + shortestGapMs - clock.elapsed());
      waiting = clock.after(waitMs, startExtra);
    },
    stop: () => schedule.abort(new Error('the target is not watched any more')),
  };
}

function avoiding(nodes: NodeSelection, asked: ReadonlySet<string>): NodeSelection {
  return nodes.kind === 'count' ? { ...nodes, avoid: [...new Set([...nodes.avoid, ...asked])] } : nodes;
}

async function collectVotes(
  target: Target,
  nodes: NodeSelection,
  dueAt: number,
  { runner, clock, log }: WatchPorts,
  signal: AbortSignal,
): Promise<readonly Vote[]> {
  using limit = deadline(clock, roundLimitMs, signal);
  try {
    const round = { target: target.name, dueAt };
    const { votes } = await runner.run({ spec: target.spec, nodes, round }, limit.signal);
    return votes;
  } catch (error) {
    if (!signal.aborted) log.error({ err: error, target: target.name, dueAt }, 'round could not be run');
    return [];
  }
}
