import { singleLine } from '#kernel/text.ts';
import { type Failure, failure, type FailureCode } from '../outcome.ts';

/** An expectation that the answer does not meet, as the target's failure. */
export function problem(code: FailureCode, message: string): Failure {
  return failure('target', code, message);
}

/** A value of the answer, or one that was expected, short enough for a sentence. */
export function quote(value: unknown): string {
  return singleLine(JSON.stringify(value) ?? '', 70);
}
