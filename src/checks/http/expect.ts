import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import { type FailureCode, type Failure, failure } from '../outcome.ts';
import { compilePattern } from '../pattern.ts';
import type { Certificate } from '../certificate.ts';
import { expiresAt } from '../tls.ts';
import type { Body } from './body.ts';
import type { Detail } from './detail.ts';
import type { Head } from './head.ts';
import { compilePath, PathError } from './json-path.ts';
import type { Expectation } from './spec.ts';
import { describeRanges, inRanges } from './status-ranges.ts';

/** A whole answer as expectations see it. */
export interface Answer {
  readonly head: Pick<Head, 'status' | 'reason' | 'headers' | 'valuesOf'>;
  readonly body: Body;
  readonly certificate: Certificate | null;
  readonly seconds: number;
  /** Wall time in milliseconds. */
  readonly now: number;
}

/** The first expectation that an answer does not meet. */
export interface Unmet {
  readonly part: NonNullable<Detail['failed_expectation']>;
  readonly failure: Failure;
}

/** Looks at status, headers, body, certificate and latency, in this order; null where the answer is a good one. */
export function findUnmet(expected: Expectation, answer: Answer): Unmet | null {
  const { head, body } = answer;
  return (
    unmet('status', statusFailure(expected.status, head)) ??
    unmet('headers', headerFailure(expected.headers, head)) ??
    unmet('body', expected.body === undefined ? null : bodyFailure(expected.body, body, charsetOf(head))) ??
    unmet('certificate', validityFailure(expected.certificate, answer)) ??
    unmet('latency', latencyFailure(expected.latency, answer.seconds))
  );
}

function unmet(part: Unmet['part'], failure: Failure | null): Unmet | null {
  return failure === null ? null : { part, failure };
}

function statusFailure(ranges: Expectation['status'], { status, reason }: Answer['head']): Failure | null {
  if (ranges === undefined ? status < 400 : inRanges(status, ranges)) return null;
  const wanted = ranges === undefined ? '' : `, expected ${describeRanges(ranges)}`;
  return problem('status', `${status} ${reason}`.trim() + wanted);
}

function headerFailure(expected: Expectation['headers'], { valuesOf }: Answer['head']): Failure | null {
  for (const [name, wanted] of Object.entries(expected)) {
    const values = valuesOf(name.toLowerCase());
    // Equal headers are one list (RFC 9110, section 5.3): each of its members may be meant, or all of it.
    const whole = values.join(', ');
    if (values.length === 0) return problem('header', `header "${name}" is missing`);
    if (typeof wanted === 'string') {
      if (![whole, ...values].includes(wanted.trim())) {
        return problem('header', `header "${name}" is ${quote(whole)}, expected ${quote(wanted)}`);
      }
      continue;
    }
    const pattern = compilePattern(wanted.regex);
    if (![whole, ...values].some((one) => pattern.test(one))) {
      return problem('header', `header "${name}" is ${quote(whole)}, expected it to match ${wanted.regex}`);
    }
  }
  return null;
}

function bodyFailure(expected: NonNullable<Expectation['body']>, body: Body, charset: string): Failure | null {
  const text = decode(body, charset);
  const { contains, not_contains, regex, json } = expected;
  const cut = () =>
    problem('too_large', `the body is larger than ${body.bytes} bytes: not all of it could be looked at`);
  const missing = (message: string) => (body.complete ? problem('body', message) : cut());
  if (contains !== undefined && !text.includes(contains))
    return missing(`the body does not contain ${quote(contains)}`);
  if (regex !== undefined && !compilePattern(regex).test(text)) return missing(`the body does not match ${regex}`);
  if (not_contains !== undefined && text.includes(not_contains)) {
    return problem('body', `the body contains ${quote(not_contains)}`);
  }
  if (not_contains === undefined && json === undefined) return null;
  if (!body.complete) return cut();
  return json === undefined ? null : jsonFailure(json, text);
}

function jsonFailure(expected: NonNullable<NonNullable<Expectation['body']>['json']>, text: string): Failure | null {
  const found = readJson(expected.path, text);
  if (!found.ok) return problem('body', found.message);
  const { path, equals, exists = true } = expected;
  const [first] = found.values;
  if (!exists) return found.values.length === 0 ? null : problem('body', `${path} is there: ${quote(first)}`);
  if (found.values.length === 0) return problem('body', `${path} is not in the body`);
  if (equals === undefined || found.values.some((value) => isDeepStrictEqual(value, equals))) return null;
  return problem('body', `${path} is ${quote(first)}, expected ${quote(equals)}`);
}

type Found =
  | { readonly ok: true; readonly values: readonly unknown[] }
  | { readonly ok: false; readonly message: string };

function readJson(path: string, text: string): Found {
  try {
    return { ok: true, values: compilePath(path).valuesIn(JSON.parse(text)) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, message: 'the body is not JSON' };
    if (error instanceof PathError) return { ok: false, message: `${path} cannot be read: ${messageOf(error)}` };
    throw error;
  }
}

function validityFailure(expected: Expectation['certificate'], { certificate, now }: Answer): Failure | null {
  if (expected === undefined) return null;
  if (certificate === null) return problem('tls', 'there is no certificate: the connection is not encrypted');
  const leftMs = expiresAt(certificate) * 1_000 - now;
  if (leftMs >= expected.valid_for) return null;
  const end = `the certificate expires on ${certificate.valid_to}`;
  return problem('certificate_expires_soon', `${end}, in less than ${formatDuration(expected.valid_for)}`);
}

function latencyFailure(limitMs: number | undefined, seconds: number): Failure | null {
  if (limitMs === undefined || seconds * 1_000 <= limitMs) return null;
  return problem('slow', `took ${formatDuration(seconds * 1_000)}, expected at most ${formatDuration(limitMs)}`);
}

function charsetOf({ headers }: Answer['head']): string {
  return /;\s*charset="?([\w.:-]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
}

function decode({ content }: Body, charset: string): string {
  const bytes = content ?? new Uint8Array();
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch (error) {
    // A label that the encoding standard does not know.
    if (error instanceof RangeError) return new TextDecoder().decode(bytes);
    throw error;
  }
}

function quote(value: unknown): string {
  return singleLine(JSON.stringify(value) ?? '', 70);
}

function problem(code: FailureCode, message: string): Failure {
  return failure('target', code, message);
}
