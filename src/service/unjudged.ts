import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { formatRunName, type RoundKey } from '#protocol/run-name.ts';

/** What was observed during an absence and is stored as history, but was not judged. Times are due times of the first and the last round. */
export interface Unjudged {
  readonly from: number;
  readonly until: number;
  /** How many targets are concerned. */
  readonly targets: number;
}

export interface UnjudgedReportOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether everything is here. */
  readonly isComplete: () => boolean;
  /** Called once for what came too late, when all of it is here or after some minutes. */
  readonly onUnjudged: (unjudged: Unjudged) => void;
}

/** How far the rounds of a target had their verdict. */
interface DecidedTarget {
  readonly name: string;
  readonly decided: number;
}

const tellUnjudgedAfterMs = 600_000;
// Anything shorter is only logged, as every start may leave a round or two.
const worthTellingMs = 60_000;

/** Counts what comes too late to be judged, and reports it once. */
export function createUnjudgedReport({ clock, log, isComplete, onUnjudged }: UnjudgedReportOptions) {
  // Of days without a hub millions of votes may come: none is remembered by itself.
  const spans = new Map<string, { readonly after: number; readonly until: number }>();
  const judgedRounds = new Set<string>();
  const targets = new Set<string>();
  let from = Number.POSITIVE_INFINITY;
  let until = Number.NEGATIVE_INFINITY;
  let openedAt: number | null = null;

  function note({ target, dueAt }: RoundKey): void {
    targets.add(target);
    from = Math.min(from, dueAt);
    until = Math.max(until, dueAt);
  }

  function report(): void {
    const count = targets.size;
    const [first, last] = [from, until];
    openedAt = null;
    for (const known of [spans, judgedRounds, targets]) known.clear();
    [from, until] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    if (count === 0) return;
    const [at, to] = [first, last].map((moment) => new Date(moment).toISOString());
    log.warn({ targets: count, from: at, until: to }, 'what nodes saw is stored unjudged');
    if (last - first >= worthTellingMs) onUnjudged({ from: first, until: last, targets: count });
  }

  return {
    note,
    judged: (round: RoundKey) => void judgedRounds.add(formatRunName(round)),
    /** What comes for these targets from now on is too late if it was due by `moment` and they had no verdict then. */
    open(rounds: readonly DecidedTarget[], moment: number): void {
      openedAt ??= clock.elapsed();
      for (const { name, decided } of rounds)
        spans.set(name, { after: Math.min(decided, spans.get(name)?.after ?? decided), until: moment });
    },
    late(round: RoundKey): void {
      const span = spans.get(round.target);
      if (span === undefined || round.dueAt <= span.after || round.dueAt > span.until) return;
      if (!judgedRounds.has(formatRunName(round))) note(round);
    },
    look(): void {
      if (openedAt === null) return judgedRounds.clear();
      if (isComplete() || clock.elapsed() - openedAt >= tellUnjudgedAfterMs) report();
    },
  };
}
