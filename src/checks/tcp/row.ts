import { z } from 'zod';
import type { Dialect } from '../check.ts';
import { meaningOf, wordsOf } from '../error-words.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** A row as we send it. */
export const shape = z
  .tuple([
    z.union([
      z.object({ time: z.number().min(0).describe('Seconds.'), address: z.string().max(64).optional() }),
      z.object({ error: z.string().max(200).describe('What went wrong.'), address: z.string().max(64).optional() }),
    ]),
  ])
  .describe('The time of a connection, or why there was none.');

// Keys that a stranger's row has besides are of no account.
const Row = z.tuple([
  z.union([
    z.object({ error: z.string(), address: z.string().max(64).nullish() }),
    z.object({ error: z.null().optional(), time: z.number().min(0).max(1e6), address: z.string().max(64).nullish() }),
  ]),
]);

/** Interface 2.7: `{time, address}`, or `{error[, address]}` in the words of the failure. */
export function toRow(outcome: Outcome<Detail>, dialect: Dialect = 'interface'): unknown {
  const address = outcome.address === null ? {} : { address: outcome.address };
  if (outcome.status === 'up') return [{ time: outcome.seconds, ...address }];
  return [{ error: wordsOf(outcome.failure, dialect), ...address }];
}

export function fromRow(value: unknown): Outcome<Detail> | null {
  const parsed = Row.safeParse(value);
  if (!parsed.success) return null;
  const [row] = parsed.data;
  const address = row.address ?? null;
  if (typeof row.error === 'string') {
    const { source, code } = meaningOf(row.error);
    return failed(failure(source, code, row.error), { address });
  }
  return {
    status: 'up',
    seconds: row.time,
    address,
    phases: { connect: row.time },
    facts: {},
    detail: { timed_by: null, clock_seconds: null, answer: null, tls: null },
  };
}
