import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import type { Dialect } from '../check.ts';
import { meaningOf, wordsOf } from '../error-words.ts';
import { failed, failure, type FailureCode, type Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';
import { nothingFound } from './nothing-found.ts';

/** A row as we send it. */
export const shape = z
  .tuple([
    z.tuple([
      z.union([z.literal(0), z.literal(1)]).describe('1 for a page, 0 for a failure.'),
      z.number().min(0).describe('Seconds.'),
      z.string().max(200).describe('The reason phrase, or what went wrong.'),
      z
        .string()
        .regex(/^[1-9]\d\d$/)
        .nullable()
        .describe('The status code; null if no answer came.'),
      z.string().max(64).nullable().describe('The address that answered.'),
    ]),
  ])
  .describe('One answer.');

// Failures of an answer that came whole; every other one is a network error, whose row has neither status nor address.
const answered: ReadonlySet<FailureCode> = new Set([
  'status',
  'header',
  'body',
  'too_large',
  'redirect',
  'slow',
  'answer',
  'certificate_expires_soon',
]);

/** Interface 2.7: `[[ok, seconds, message, status_code, address]]`. A failed expectation's message tells what failed. */
export function toRow(outcome: Outcome<Detail>, dialect: Dialect = 'interface'): readonly (readonly unknown[])[] {
  const seconds = outcome.seconds ?? 0;
  if (outcome.status === 'up') {
    return [[1, seconds, outcome.detail.reason, String(outcome.detail.status), outcome.address]];
  }
  const { failure, detail } = outcome;
  const status = detail?.status ?? null;
  if (detail === null || status === null || !answered.has(failure.code)) {
    return [[0, seconds, wordsOf(failure, dialect), null, null]];
  }
  const message = failure.code === 'status' ? detail.reason : failure.message;
  return [[0, seconds, message, String(status), outcome.address]];
}

const Status = z.union([
  z
    .string()
    .regex(/^[1-9]\d\d$/)
    .transform(Number),
  z.int().min(100).max(999),
]);

// The documented example has four elements, others have more; the public service leaves the address out at times.
const Row = z.tuple([
  z
    .tuple([z.union([z.literal(0), z.literal(1)]), z.number().min(0).max(1e6), z.string(), Status.nullable()])
    .rest(z.unknown()),
]);
const Address = z.string().max(64).nullable().catch(null);

/** Reads rows of four elements or more. What a row does not tell is null or empty in the outcome. */
export function fromRow(row: unknown): Outcome<Detail> | null {
  const parsed = Row.safeParse(row);
  if (!parsed.success) return null;
  const [ok, seconds, text, status, ...rest] = parsed.data[0];
  const address = Address.parse(rest[0] ?? null);
  const message = singleLine(text);
  if (status === null) {
    if (ok === 1) return null;
    const { source, code } = meaningOf(message);
    return failed<Detail>(failure(source, code, message), { seconds });
  }
  const detail: Detail = { ...nothingFound, status, reason: message };
  if (ok === 1) return { status: 'up', seconds, address, phases: {}, facts: {}, detail };
  if (status < 400) return failed(failure('target', 'answer', message), { seconds, address, detail });
  return failed(failure('target', 'status', `${status} ${message}`), { seconds, address, detail });
}
