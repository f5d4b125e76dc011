import { isIP } from 'node:net';
import { z } from 'zod';
import type { Dialect } from '../check.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import { type Attempt, AttemptStatus, type Detail } from './detail.ts';
import { summarize } from './summary.ts';

const SentAttempt = z
  .tuple([AttemptStatus, z.number().min(0).describe('Seconds.')], z.string().describe('The address, on one of them.'))
  .meta({
    description: 'Status and seconds; the address is in the first `OK` row, or where the public service puts it.',
    maxItems: 3,
  });

/** A row as we send it. */
export const shape = z
  .tuple([z.union([z.array(SentAttempt).min(1).max(100), z.tuple([z.null()])])])
  .describe('The attempts; `[[null]]` if the name was not resolved.');

type RowAttempt = readonly [status: string, seconds: number, address?: string];
type PingRow = readonly [readonly RowAttempt[] | readonly [null]];

/**
 * `[[attempt, ...]]` with the address on the first OK attempt only, or `[[null]]` for a name without an address (interface
 * 2.7). The public service puts the address on the first attempt whatever its status.
 */
export function toRow(outcome: Outcome<Detail>, dialect: Dialect = 'interface'): PingRow {
  if (outcome.detail === null) return [[null]];
  const { attempts } = outcome.detail;
  const first = dialect === 'interface' ? attempts.findIndex((attempt) => attempt.status === 'OK') : 0;
  return [
    attempts.map(({ status, seconds }, index) =>
      index === first && outcome.address !== null ? [status, seconds, outcome.address] : [status, seconds],
    ),
  ];
}

// Others put the address on the first attempt whatever its status, and may put more behind it.
const ReadAttempt = z.tuple([AttemptStatus, z.number().min(0).max(1e6)], z.unknown());
const ReadRow = z.tuple(
  [
    z
      .array(z.union([ReadAttempt, z.null()]))
      .min(1)
      .max(100),
  ],
  z.unknown(),
);

/** Reads a row of any service that speaks the interface; null if it cannot be read, as `[]` and `[[]]` cannot. */
export function fromRow(row: unknown): Outcome<Detail> | null {
  const read = ReadRow.safeParse(row);
  if (!read.success) return null;
  const [cells, ...more] = read.data;
  if (more.length > 0) return null;
  if (cells.length === 1 && cells[0] === null) {
    return failed(failure('target', 'name_not_found', 'the node could not resolve the name'));
  }
  let address: string | null = null;
  const attempts: Attempt[] = [];
  for (const cell of cells) {
    if (cell === null) return null;
    const [status, seconds, written] = cell;
    if (address === null && typeof written === 'string' && isIP(written) !== 0) address = written;
    attempts.push({ status, seconds: Math.round(seconds * 1e6) / 1e6, ttl: null, reason: null });
  }
  const detail = { attempts, duplicates: 0, timed_by: null };
  return summarize(detail, { address, phases: {}, timeoutMs: null });
}
