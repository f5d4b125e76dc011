import { type Clock, deadline } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { decide, type Memory } from './decide.ts';
import type { MonitorStore, RoundRecord, Runner, Vote } from './ports.ts';
import { createNextDue, dueTimes } from './schedule.ts';
import type { Target } from './target.ts';
import type { Verdict } from './verdict.ts';

/** A round that is over. Times are wall time. */
export interface DoneRound {
  readonly dueAt: number;
  readonly startedAt: number;
  readonly votes: readonly Vote[];
  readonly verdict: Verdict;
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
  readonly store: MonitorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: MonitorEvents;
  /** Called after deliveries were committed. */
  readonly wakeOutbox: () => void;
}

/** `schedule` ends the loop before its next round, `work` ends the round that runs. */
export interface WatchSignals {
  readonly schedule: AbortSignal;
  readonly work: AbortSignal;
}

// No check takes as long: what is beyond it is a hang of ours.
const roundLimitMs = 180_000;

/**
 * Watches one target until `signals.schedule` is aborted:
 *
 * 1. wait for the next due time; those that passed meanwhile are counted, never made up for;
 * 2. have the check run on the nodes; trouble of ours is a round without votes;
 * 3. decide what follows;
 * 4. store all of it in one transaction, waited for only where an incident is in it;
 * 5. wake the outbox.
 */
export async function watch(
  target: Target,
  remembered: Memory,
  ports: WatchPorts,
  signals: WatchSignals,
): Promise<void> {
  const { clock, events } = ports;
  const pending = new Set<Promise<void>>();
  let memory = remembered;
  const next = createNextDue(target.schedule, target.name);
  const awaitNext = (from: number) => events.roundAwaited(target, next(from) ?? Number.POSITIVE_INFINITY);
  awaitNext(clock.now());
  for await (const { dueAt, skipped } of dueTimes(target.schedule, target.name, clock, signals.schedule)) {
    const startedAt = clock.now();
    if (skipped > 0) events.roundSkipped(target, skipped);
    awaitNext(startedAt);
    const votes = await collectVotes(target, dueAt, ports, signals.work);
    if (signals.work.aborted) break;
    const decision = decide(target, memory, { dueAt, votes, now: clock.now() });
    ({ memory } = decision);
    events.roundDone(target, { dueAt, startedAt, votes, verdict: decision.verdict });
    const recording = record(decision.record, ports);
    pending.add(recording);
    void recording.finally(() => pending.delete(recording));
    if (decision.record.incidents.length > 0) await recording;
  }
  await Promise.all(pending);
}

async function collectVotes(
  target: Target,
  dueAt: number,
  ports: WatchPorts,
  signal: AbortSignal,
): Promise<readonly Vote[]> {
  using limit = deadline(ports.clock, roundLimitMs, signal);
  try {
    const round = { target: target.name, dueAt };
    const { votes } = await ports.runner.run({ spec: target.spec, nodes: target.nodes, round }, limit.signal);
    return votes;
  } catch (error) {
    if (!signal.aborted) ports.log.error({ err: error, target: target.name, dueAt }, 'round could not be run');
    return [];
  }
}

async function record(round: RoundRecord, { store, log, events, wakeOutbox }: WatchPorts): Promise<void> {
  if (round.votes.length === 0) return;
  try {
    if ((await store.record(round)) === 'duplicate') {
      log.warn({ target: round.target, dueAt: round.dueAt }, 'round was recorded before');
      return;
    }
    for (const incident of round.incidents) {
      const { id, target, cause, endedAt } = incident;
      if (endedAt === null) log.warn({ incident: id, target, cause }, 'incident opened');
      else log.info({ incident: id, target }, 'incident closed');
    }
    events.recorded(round);
    if (round.deliveries.length > 0) wakeOutbox();
  } catch (error) {
    log.error({ err: error, target: round.target, dueAt: round.dueAt }, 'round could not be stored');
  }
}
