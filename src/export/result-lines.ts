import type { CheckSpec } from '#checks/index.ts';
import type { Vote } from '#monitor/judge/vote.ts';

/** A round that is over, as the monitor judged it. */
export interface ExportedRound {
  readonly target: string;
  readonly check: CheckSpec['type'];
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  readonly votes: readonly Vote[];
  readonly verdict: 'up' | 'partial' | 'down' | 'unknown';
  readonly inMaintenance: boolean;
  /** Whether it is judged long after it was due, or once more. */
  readonly isLate: boolean;
}

/** A line of JSON for each vote. `docs/reporting.md` describes the keys, which keep their meaning. */
export function resultLines({
  target,
  check,
  dueAt,
  votes,
  verdict,
  inMaintenance,
  isLate,
}: ExportedRound): readonly string[] {
  const due = new Date(dueAt).toISOString();
  return votes.map(({ node, outcome, startedAt }) => {
    const { status, seconds, address, phases } = outcome;
    const line = {
      time: startedAt === undefined ? due : new Date(startedAt).toISOString(),
      due_at: due,
      target,
      check,
      node: node.name,
      status,
      seconds,
      phases,
      address,
      error: outcome.status === 'up' ? null : outcome.failure,
      verdict,
      maintenance: inMaintenance,
      late: isLate,
    };
    return `${JSON.stringify(line)}\n`;
  });
}
