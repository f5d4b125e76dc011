import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { countOf } from '#kernel/text.ts';
import type { DueSpan, Observation } from '#protocol/watching.ts';
import { createGrant, type GrantedIntake } from './grant.ts';
import type { TargetWatch } from './target-watch.ts';
import type { UnreadBatch } from './ports.ts';
import { DueSpans } from './due-spans.ts';
import { createMinuteCount } from './minute-count.ts';

/**
 * Leaves out rounds if more comes in than can be judged: only those of targets that have been up for a while and still are, because
 * such a round changes nothing but the history.
 */
export interface Overload {
  /** Leaves out the round of this observation, unless the round may have to be notified, or has a vote already. */
  skipResult(place: TargetWatch, observation: Observation): void;
  /** Does the same for observations for which there is no room, if their targets are known. */
  giveUp(observations: readonly Observation[], places: ReadonlyMap<string, TargetWatch>): void;
  /** These are not read: their nodes drop them. */
  skip(batches: readonly UnreadBatch[]): void;
  /** Which share of their healthy results nodes are to send. */
  granted(): number;
  /** A node did not send this many results that were due then, because they were not granted. */
  notSent(node: string, due: DueSpan, results: number): void;
  /** Newer results of the same node are read before these. */
  overtaken(batch: UnreadBatch): void;
  /** Whether a result of a node that was due then may have been skipped, or overtaken by later ones. */
  isShed(node: string, dueAt: number): boolean;
  /** How much was left out within the last minute, in words; null if nothing was. */
  reason(): string | null;
}

// A failure within this time may still be notified, or its end.
const quietMs = 600_000;
// No target is shed for ever: the same targets may come last again and again.
const mostInARow = 9;
const logEveryMs = 60_000;

/** `intake` is what nodes have sent so far. */
export function createOverload(clock: Clock, log: Log, intake: () => GrantedIntake, countedMs?: number): Overload {
  const grant = createGrant(clock, intake);
  const rounds = createMinuteCount(clock, countedMs);
  const results = createMinuteCount(clock, countedMs);
  const spans = new DueSpans();
  let loggedAt = Number.NEGATIVE_INFINITY;

  function logOverload(message: string): void {
    if (clock.elapsed() - loggedAt < logEveryMs) return;
    loggedAt = clock.elapsed();
    log.warn(message);
  }

  function skipResult(place: TargetWatch, { revision, dueAt, outcome }: Observation): void {
    const isQuiet = outcome.status === 'up' && dueAt - place.badAt > quietMs;
    if (!isQuiet || place.assigned.revision !== revision) return;
    const isTurn = place.leftOut < mostInARow && place.rounds.leaveOut(dueAt);
    place.leftOut = isTurn ? place.leftOut + 1 : 0;
    if (!isTurn) return;
    rounds.add(1);
    logOverload('more comes in than can be judged: rounds are left out');
  }

  return {
    skipResult,
    giveUp(observations, places) {
      for (const observation of observations) {
        const place = places.get(observation.target);
        if (place !== undefined) skipResult(place, observation);
      }
    },
    granted: () => grant.share(),
    notSent(node, due, count) {
      spans.add(node, due, clock.now());
      grant.leftOut(count);
      // A node may say so of itself.
      if (!grant.isRecent()) return;
      results.add(count);
      logOverload('more comes in than can be judged: healthy results are skipped');
    },
    overtaken: ({ node, due }) => spans.add(node, due, clock.now()),
    isShed: (node, dueAt) => spans.has(node, dueAt),
    skip(batches) {
      for (const batch of batches) {
        spans.add(batch.node, batch.due, clock.now());
        results.add(batch.results);
        batch.skip();
      }
      logOverload('more comes in than can be judged: healthy results are skipped');
    },
    reason() {
      const [left, skipped] = [rounds.sum(), results.sum()];
      const parts = [
        ...(left === 0 ? [] : [countOf(left, 'round')]),
        ...(skipped === 0 ? [] : [countOf(skipped, 'result')]),
      ];
      return parts.length === 0 ? null : `${parts.join(' and ')} of healthy targets left out in the last minute`;
    },
  };
}
