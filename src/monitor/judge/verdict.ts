import { z } from 'zod';
import type { Vote } from './vote.ts';

/** How many of the counted votes must be down: a share above one half, all, any, a number or a percentage. */
export type Threshold =
  | { readonly kind: 'any' | 'majority' | 'all' }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'share'; readonly share: number };

const hint = 'expected "any", "majority", "all", a number of nodes such as 3, or a percentage such as "50%"';

/** `any`, `majority`, `all`, a number of nodes, or a percentage of the votes. */
export const Threshold = z.codec(
  z.union(
    [
      z.enum(['any', 'majority', 'all'], { error: hint }),
      z.int({ error: hint }).min(1, { error: hint }).max(10_000, { error: hint }),
      z.string({ error: hint }).regex(/^(?:100|[1-9]\d?)%$/, { error: hint }),
    ],
    { error: hint },
  ),
  z.custom<Threshold>(),
  {
    decode(written): Threshold {
      if (typeof written === 'number') return { kind: 'count', count: written };
      if (written === 'any' || written === 'majority' || written === 'all') return { kind: written };
      return { kind: 'share', share: Number(written.slice(0, -1)) / 100 };
    },
    encode(threshold) {
      if (threshold.kind === 'count') return threshold.count;
      if (threshold.kind === 'share') return `${Math.round(threshold.share * 100)}%`;
      return threshold.kind;
    },
  },
);

export type VerdictStatus = 'up' | 'partial' | 'down' | 'unknown';
export type VerdictReason = 'all_up' | 'threshold_met' | 'below_threshold' | 'tie' | 'no_quorum' | 'no_votes';

/** One answer made of a round's votes, with the reason for it. */
export interface Verdict {
  readonly status: VerdictStatus;
  readonly reason: VerdictReason;
  /** Whether the round counts as failing, as good, or (null) leaves everything as it was. */
  readonly failing: boolean | null;
  readonly up: number;
  readonly down: number;
  readonly unknown: number;
}

/**
 * Counts the votes. Unknown votes count for neither side; with fewer than `quorum` others the verdict is unknown (default:
 * half of the votes, at least one). An even split under `majority` keeps the state, and so does a number of nodes that only
 * missing votes could reach, be it of nodes that are not there.
 */
export function tally(votes: readonly Vote[], threshold: Threshold, quorum?: number): Verdict {
  return tallyStatuses(
    votes.map(({ outcome }) => outcome.status),
    threshold,
    quorum,
  );
}

/**
 * The same for statuses that a rule made of the votes. `suspected` of the unknown ones are those of nodes whose votes do not
 * count: a quorum is not held up by them.
 */
export function tallyStatuses(
  statuses: readonly ('up' | 'down' | 'unknown')[],
  threshold: Threshold,
  quorum?: number,
  suspected = 0,
): Verdict {
  const count = { up: 0, down: 0, unknown: 0 };
  for (const status of statuses) count[status] += 1;
  const counted = count.up + count.down;
  const asked = statuses.length - suspected;
  const needed = quorum ?? Math.max(1, Math.ceil(asked / 2));
  const verdict = (status: VerdictStatus, reason: VerdictReason, failing: boolean | null): Verdict => ({
    status,
    reason,
    failing,
    ...count,
  });

  if (counted === 0) return verdict('unknown', 'no_votes', null);
  if (counted < Math.min(needed, asked)) return verdict('unknown', 'no_quorum', null);
  if (count.down === 0) return verdict('up', 'all_up', false);
  if (count.down >= downVotesNeeded(threshold, counted)) return verdict('down', 'threshold_met', true);
  if (threshold.kind === 'majority' && count.down * 2 === counted) return verdict('partial', 'tie', null);
  if (threshold.kind === 'count') {
    const missing = count.unknown + Math.max(0, threshold.count - statuses.length);
    if (count.down + missing >= threshold.count) return verdict('partial', 'no_quorum', null);
  }
  return verdict('partial', 'below_threshold', false);
}

/** The threshold in words: `more than half of the nodes`. */
export function describeThreshold(threshold: Threshold): string {
  switch (threshold.kind) {
    case 'any':
      return 'any node';
    case 'majority':
      return 'more than half of the nodes';
    case 'all':
      return 'all nodes';
    case 'count':
      return `${threshold.count} ${threshold.count === 1 ? 'node' : 'nodes'} or more`;
    case 'share':
      return `${Math.round(threshold.share * 100)}% of the nodes or more`;
  }
}

function downVotesNeeded(threshold: Threshold, counted: number): number {
  switch (threshold.kind) {
    case 'any':
      return 1;
    case 'majority':
      return Math.floor(counted / 2) + 1;
    case 'all':
      return counted;
    case 'count':
      return threshold.count;
    case 'share':
      return Math.max(1, Math.ceil(threshold.share * counted - 1e-9));
  }
}
