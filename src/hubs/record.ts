import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { parseJson } from '#kernel/json.ts';
import type { RecordHead } from './position.ts';

/** The newest form of records that this version reads and writes. */
const recordVersion = 1;

/** A record of the log: what one transaction of the leader writes. */
export interface LogRecord extends RecordHead {
  /** Who wrote it. */
  readonly hub: string;
  /** Whether a leader begins with it. */
  readonly isFirst: boolean;
  readonly writes: readonly unknown[];
}

const Versioned = z.object({ v: z.number() });

const Shape = z.object({
  epoch: z.int(),
  n: z.int(),
  after: z.int(),
  hub: z.string(),
  isFirst: z.boolean(),
  writes: z.array(z.unknown()),
});

/** A record as bytes. */
export function encodeRecord(record: LogRecord): Uint8Array {
  return deflateRawSync(JSON.stringify({ v: recordVersion, ...record }), { level: 1 });
}

/** The record in these bytes: `newer` if a later version wrote it, null if it is none. */
export function decodeRecord(bytes: Uint8Array): LogRecord | 'newer' | null {
  const value = parseJson(inflated(bytes));
  const version = Versioned.safeParse(value).data?.v;
  if (version === undefined) return null;
  return version > recordVersion ? 'newer' : (Shape.safeParse(value).data ?? null);
}

// As long as a stream can hold: a record of a second has some hundred kilobytes.
const longestBytes = 64 * 1_024 * 1_024;

function inflated(bytes: Uint8Array): string {
  try {
    return inflateRawSync(bytes, { maxOutputLength: longestBytes }).toString();
  } catch {
    // It is no record, and null says so.
    return '';
  }
}

/** Whether two records are the same one. */
export function isSameRecord(one: LogRecord, other: LogRecord): boolean {
  return one.hub === other.hub && one.epoch === other.epoch && one.n === other.n && one.isFirst === other.isFirst;
}
