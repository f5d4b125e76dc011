import { singleLine } from '#kernel/text.ts';
import type { FailureSource, FailureCode, Failure, Phase, Fact } from './outcome-schemas.ts';

export type { Failure, Fact, Phase, FailureCode, FailureSource } from './outcome-schemas.ts';

interface OutcomeBase {
  readonly address: string | null;
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  readonly facts: Readonly<Partial<Record<Fact, number>>>;
}

export interface UpOutcome<Detail> extends OutcomeBase {
  readonly status: 'up';
  readonly seconds: number | null;
  readonly detail: Detail;
}

export interface FailedOutcome<Status extends 'down' | 'unknown', Detail> extends OutcomeBase {
  readonly status: Status;
  readonly seconds: number | null;
  readonly failure: Failure;
  readonly detail: Detail | null;
}

/** The observation of one node: up, down by the target's own fault, or unknown because a third party failed. */
export type Outcome<Detail = unknown> =
  | UpOutcome<Detail>
  | FailedOutcome<'down', Detail>
  | FailedOutcome<'unknown', Detail>;

/** A failure with its message made safe: one line, no controls, at most 200 characters. */
export function failure(source: FailureSource, code: FailureCode, message: string): Failure {
  return { source, code, message: singleLine(message) };
}

/** The failure of a third party that a check needs, with its name in front. Faults of the node and its resolver stay theirs. */
export function thirdPartyFailure(who: string, { source, code, message }: Failure): Failure {
  return failure(source === 'target' ? 'third_party' : source, code, `${who}: ${message}`);
}

/** The outcome of a failure: down if it is the target's, otherwise unknown. */
export function failed<Detail>(
  reason: Failure,
  known: Partial<Pick<FailedOutcome<'down', Detail>, 'seconds' | 'address' | 'phases' | 'facts' | 'detail'>> = {},
): FailedOutcome<'down', Detail> | FailedOutcome<'unknown', Detail> {
  const status = reason.source === 'target' ? 'down' : 'unknown';
  return { status, seconds: null, address: null, phases: {}, facts: {}, detail: null, ...known, failure: reason };
}

/** What a check has measured so far, as an outcome for code that shows outcomes: nothing is known about the target yet. */
export function unfinishedOutcome<Detail>(
  detail: Detail,
): FailedOutcome<'down', Detail> | FailedOutcome<'unknown', Detail> {
  return failed(failure('node', 'no_answer', 'the check is not finished'), { detail });
}

/** Seconds of a span of monotonic milliseconds, to the microsecond. */
export function toSeconds(ms: number): number {
  return Math.round(Math.max(ms, 0) * 1_000) / 1_000_000;
}
