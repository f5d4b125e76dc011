import type { NodeSelection } from '#checks/index.ts';
import { type Clock, sleep } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { createNextDue } from '#schedule/schedule.ts';
import type { RoundRecord } from '../judge/round-record.ts';
import type { Target } from '../judge/target.ts';
import type { Verdict } from '../judge/verdict.ts';
import { collectVotes } from './by-runs.ts';
import type { Runner, SeenRound } from './runner.ts';

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
  /** A target is watched no more, and its last round is over. */
  unwatched(target: string): void;
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

// The pause before a round that makes sure of the last one.
const confirmAfterMs = 5_000;
const shortestGapMs = 3_000;

/**
 * Watches one target until it is stopped:
 *
 * 1. the runner has it looked at whenever it is due, and tells what was seen and what was skipped;
 * 2. what was seen is handed on;
 * 3. where a failing round is to be confirmed, another one is asked for after a pause, on other nodes where there are any, and
 *    it goes on with 2;
 * 4. so it does with rounds besides the schedule, one at a time with the others.
 *
 * `work` ends the round that runs.
 */
export function startWatch(target: Target, ports: WatchPorts, work: AbortSignal): Watch {
  const { clock, events, log, runner } = ports;
  const stopping = new AbortController();
  const next = createNextDue(target.schedule, target.name);
  const awaitNext = () => events.roundAwaited(target, next(clock.now()) ?? Number.POSITIVE_INFINITY);
  const mostConfirmations = Math.max(0, ...target.rules.map(({ rule }) => (rule.confirm ? rule.rounds.bad - 1 : 0)));
  const { promise: failing, reject } = Promise.withResolvers<never>();
  /** Rounds that wait for the one that is being dealt with. */
  const heard: SeenRound[] = [];
  let dealing: Promise<void> | null = null;
  let waiting: Disposable | null = null;
  let lastDueAt = Number.NEGATIVE_INFINITY;
  let lastStart = Number.NEGATIVE_INFINITY;

  async function hear(round: SeenRound): Promise<void> {
    awaitNext();
    heard.push(round);
    await (dealing ??= deal(null));
  }

  // `first` is a round to be asked for now.
  async function deal(first: number | null): Promise<void> {
    try {
      if (first !== null) await follow(await look(first, target.nodes));
      for (let round = heard.shift(); round !== undefined && !work.aborted; round = heard.shift()) await follow(round);
    } catch (error) {
      reject(error);
    } finally {
      dealing = null;
    }
  }

  async function follow(first: SeenRound | null): Promise<void> {
    const asked = new Set<string>();
    let round = first;
    for (let left = mostConfirmations; round !== null; left -= 1) {
      lastDueAt = Math.max(lastDueAt, round.dueAt);
      lastStart = clock.elapsed() - Math.max(0, clock.now() - round.startedAt);
      for (const { node } of round.votes) asked.add(node.name);
      const wantsMore = await ports.take(round);
      if (!wantsMore || left === 0 || round.late !== undefined || !(await pause())) return;
      round = await look(extraDueAt(), avoiding(target.nodes, asked));
    }
  }

  async function look(dueAt: number, nodes: NodeSelection): Promise<SeenRound | null> {
    const startedAt = clock.now();
    lastStart = clock.elapsed();
    const request = { spec: target.spec, nodes, round: { target: target.name, dueAt } };
    const votes = await collectVotes(runner, request, work, clock, log);
    return work.aborted ? null : { dueAt, startedAt, votes };
  }

  // Not where the next scheduled round is as near: that one will tell.
  async function pause(): Promise<boolean> {
    const tookMs = clock.elapsed() - lastStart;
    const due = next(clock.now());
    if (heard.length > 0 || (due !== null && due - clock.now() < confirmAfterMs + tookMs)) return false;
    try {
      await sleep(clock, confirmAfterMs, stopping.signal);
      return true;
    } catch (error) {
      if (stopping.signal.aborted) return false;
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
    if (!isBusy() && !stopping.signal.aborted) dealing ??= deal(extraDueAt());
  }

  const isBusy = () => dealing !== null || watched.underWay;

  async function end(): Promise<void> {
    await watched.ended;
    await dealing;
  }

  awaitNext();
  const watched = runner.watch(target, {
    round: hear,
    skipped(count) {
      awaitNext();
      events.roundSkipped(target, count);
    },
  });
  const cut = () => watched.cut();
  if (work.aborted) cut();
  else work.addEventListener('abort', cut, { once: true });
  return {
    ended: Promise.race([end(), failing]).finally(() => work.removeEventListener('abort', cut)),
    request() {
      if (isBusy() || waiting !== null || stopping.signal.aborted) return;
      const waitMs = Math.max(0, lastStart + shortestGapMs - clock.elapsed());
      waiting = clock.after(waitMs, startExtra);
    },
    stop() {
      stopping.abort(new Error('the target is not watched any more'));
      waiting?.[Symbol.dispose]();
      watched.stop();
    },
  };
}

function avoiding(nodes: NodeSelection, asked: ReadonlySet<string>): NodeSelection {
  return nodes.kind === 'count' ? { ...nodes, avoid: [...new Set([...nodes.avoid, ...asked])] } : nodes;
}
