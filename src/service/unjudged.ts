import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import { formatRunName, type RoundKey } from '#protocol/run-name.ts';
import type { Transport } from './ports.ts';

/** What was observed during an absence and is stored as history, but was not judged. Times are due times of the first and the last round. */
export interface UnjudgedPeriod {
  readonly from: number;
  readonly until: number;
  /** How many targets are concerned. */
  readonly targets: number;
  /** Results of that time that nodes dropped: they are nowhere. */
  readonly dropped: readonly DroppedResults[];
}

export interface DroppedResults {
  readonly node: string;
  readonly count: number;
}

export interface UnjudgedReportOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether everything is here. */
  readonly isComplete: () => boolean;
  /** What nodes report of themselves. */
  readonly transport: Pick<Transport, 'nodes'>;
  /** Called once for what came too late, when all of it is here or after some minutes. */
  readonly onUnjudged: (unjudged: UnjudgedPeriod) => void;
}

/** How far the rounds of a target had their verdict. */
interface DecidedTarget {
  readonly name: string;
  readonly decided: number;
}

const reportAfterMs = 600_000;
// Anything shorter is only logged, as every start may leave a round or two.
const leastSpanMs = 60_000;

/** Counts what comes too late to be judged, and reports it once. */
export function createUnjudgedReport({ clock, log, isComplete, transport, onUnjudged }: UnjudgedReportOptions) {
  // Of days without a hub millions of votes may come: none is remembered by itself.
  const spans = new Map<string, { readonly after: number; readonly until: number }>();
  const judgedRounds = new Set<string>();
  const targets = new Set<string>();
  /** How much of what each node dropped was reported. */
  const reported = new Map<string, number>();
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
    const absent = [...spans.values()];
    const dropped = lostSince(Math.min(...absent.map(({ after }) => after)));
    const [first, last] =
      count > 0
        ? [from, until]
        : [Math.min(...absent.map(({ after }) => after)), Math.max(...absent.map((span) => span.until))];
    openedAt = null;
    for (const known of [spans, judgedRounds, targets]) known.clear();
    [from, until] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    if (count === 0 && dropped.length === 0) return;
    for (const { node, count: lost } of dropped) reported.set(node, (reported.get(node) ?? 0) + lost);
    const [at, to] = [first, last].map((moment) => new Date(moment).toISOString());
    if (count > 0) log.warn({ targets: count, from: at, until: to }, 'stored results too late to judge');
    for (const one of dropped) log.warn({ ...one, from: at, until: to }, 'a node dropped results of an absence');
    if (last - first >= leastSpanMs) onUnjudged({ from: first, until: last, targets: count, dropped });
  }

  function lostSince(moment: number): readonly DroppedResults[] {
    return transport.nodes().flatMap(({ info: { name: node }, losses, newestDroppedAt }) => {
      if ((newestDroppedAt ?? Number.NEGATIVE_INFINITY) <= moment) return [];
      const count = losses?.dropped ?? 0;
      // A node that was started again counts from nothing.
      const known = reported.get(node) ?? 0;
      const lost = count < known ? count : count - known;
      return lost === 0 ? [] : [{ node, count: lost }];
    });
  }

  return {
    note,
    /** Whether nodes dropped anything that they had observed since then, and that was not reported yet. */
    hasLost: (moment: number) => lostSince(moment).length > 0,
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
      if (isComplete() || clock.elapsed() - openedAt >= reportAfterMs) report();
    },
  };
}
