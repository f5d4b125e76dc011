import { formatDuration } from '#kernel/units.ts';
import { type Certificate, remainingLifeFailure } from '../certificate.ts';
import type { Failure } from '../outcome.ts';
import { compilePattern } from '../pattern.ts';
import type { Body } from './body.ts';
import type { Detail } from './detail.ts';
import { problem, quote } from './unmet.ts';
import type { Head } from './head.ts';
import { bodyFailure } from './expect-body.ts';
import type { HttpExpectation, HeaderExpectation } from './spec.ts';
import { describeRanges, inRanges } from './status-ranges.ts';

/** A whole answer as expectations see it. */
export interface ReceivedResponse {
  readonly head: Pick<Head, 'status' | 'reason' | 'headers' | 'valuesOf'>;
  readonly body: Body;
  readonly certificate: Certificate | null;
  readonly seconds: number;
  /** Wall time in milliseconds. */
  readonly now: number;
}

/** The first expectation that an answer does not meet. */
export interface ExpectationFailure {
  readonly part: NonNullable<Detail['failed_expectation']>;
  readonly failure: Failure;
}

/** Examines status, headers, body, certificate and latency, in this order; null if the answer meets all expectations. */
export function findUnmet(expected: HttpExpectation, response: ReceivedResponse): ExpectationFailure | null {
  const { head, body } = response;
  return (
    unmet('status', statusFailure(expected.status, head)) ??
    unmet('headers', headerFailure(expected.headers, head)) ??
    unmet('body', expected.body === undefined ? null : bodyFailure(expected.body, body, head)) ??
    unmet('certificate', validityFailure(expected, response)) ??
    unmet('latency', latencyFailure(expected.latency, response.seconds))
  );
}

function unmet(part: ExpectationFailure['part'], failure: Failure | null): ExpectationFailure | null {
  return failure === null ? null : { part, failure };
}

function statusFailure(
  ranges: HttpExpectation['status'],
  { status, reason }: ReceivedResponse['head'],
): Failure | null {
  if (ranges === undefined ? status < 400 : inRanges(status, ranges)) return null;
  const wanted = ranges === undefined ? '' : `, expected ${describeRanges(ranges)}`;
  return problem('status', `${status} ${reason}`.trim() + wanted);
}

function headerFailure(expected: HttpExpectation['headers'], { valuesOf }: ReceivedResponse['head']): Failure | null {
  for (const [name, conditions] of Object.entries(expected)) {
    const values = valuesOf(name.toLowerCase());
    // Equal headers are one list (RFC 9110, section 5.3): each of its members may be meant, or all of it.
    const whole = values.join(', ');
    const any = [whole, ...values];
    for (const wanted of conditions) {
      const wrong = headerMismatch(wanted, values.length === 0 ? null : any);
      if (wrong === 'missing') return problem('header', `header "${name}" is missing`);
      if (wrong !== null) return problem('header', `header "${name}" is ${quote(whole)}, expected ${wrong}`);
    }
  }
  return null;
}

function headerMismatch(wanted: HeaderExpectation, values: readonly string[] | null): string | null {
  if (typeof wanted === 'object' && 'absent' in wanted) return values === null ? null : 'none';
  if (typeof wanted === 'object' && 'not_regex' in wanted) {
    const pattern = compilePattern(wanted.not_regex);
    return values?.some((one) => pattern.test(one)) === true ? `it not to match ${wanted.not_regex}` : null;
  }
  if (values === null) return 'missing';
  if (typeof wanted === 'string') return values.includes(wanted.trim()) ? null : quote(wanted);
  const pattern = compilePattern(wanted.regex);
  return values.some((one) => pattern.test(one)) ? null : `it to match ${wanted.regex}`;
}

function validityFailure(
  { certificate: expected, stapled }: HttpExpectation,
  { certificate, now }: ReceivedResponse,
): Failure | null {
  if (expected === undefined && stapled === undefined) return null;
  if (certificate === null) return problem('tls', 'there is no certificate: the connection is not encrypted');
  return expected === undefined ? null : remainingLifeFailure(certificate, expected.valid_for, now);
}

function latencyFailure(limitMs: number | undefined, seconds: number): Failure | null {
  if (limitMs === undefined || seconds * 1_000 <= limitMs) return null;
  return problem('slow', `took ${formatDuration(seconds * 1_000)}, expected at most ${formatDuration(limitMs)}`);
}
