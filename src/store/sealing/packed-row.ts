import type { PackedResult } from '#history/pack.ts';
import { statusOf } from '../rows.ts';

/** A result as a row has it. */
export interface ResultRow {
  readonly dueAt: number;
  readonly status: number;
  readonly durationUs: number | null;
  readonly failure: string | null;
  readonly lateAt: number | null;
}

export function packedOf({ dueAt, status, durationUs, failure, lateAt }: ResultRow): PackedResult {
  return { dueAt, status: statusOf(status), durationUs, failure, lateAt };
}
