import type { DueSpan, PassedChecks } from './watching.ts';

/** The span from the beginning of the earlier one to the end of the later one. */
export function joinSpans(one: DueSpan | null | undefined, other: DueSpan): DueSpan {
  return one ? { from: Math.min(one.from, other.from), until: Math.max(one.until, other.until) } : other;
}

/** Both together. */
export function joinPassed(one: PassedChecks | null | undefined, other: PassedChecks): PassedChecks {
  return one ? { checks: one.checks + other.checks, due: joinSpans(one.due, other.due) } : other;
}
