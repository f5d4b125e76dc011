import type { FailureCode, Outcome } from '#checks/index.ts';
import { failure } from '#checks/node-types.ts';
import { formatSeconds } from '#kernel/units.ts';

// What a loop that is late makes of a target that is well. A wrong answer may be the part of a right one that came by then.
const lateness: ReadonlySet<FailureCode> = new Set(['timeout', 'silent', 'name_timeout', 'slow', 'answer']);

// A stall of less than this share of the time is no reason to disbelieve what was seen.
const share = 0.25;

/**
 * The outcome of a check whose node was held up meanwhile. A timeout says nothing about the target if the node itself was
 * away for a good part of the time: it is unknown. Answers that came count as they are.
 */
export function lateAsUnknown(outcome: Outcome, limitMs: number): Outcome {
  if (outcome.status !== 'down' || !lateness.has(outcome.failure.code)) return outcome;
  const { node_lag: lag = 0 } = outcome.facts;
  const seconds = outcome.failure.code === 'slow' ? (outcome.seconds ?? 0) : limitMs / 1e3;
  if (lag < seconds * share || lag === 0) return outcome;
  const reason = `this node was held up for ${formatSeconds(lag)} meanwhile: ${outcome.failure.message}`;
  return { ...outcome, status: 'unknown', failure: failure('node', 'busy', reason) };
}
