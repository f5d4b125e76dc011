import { ByteReader, ByteWriter } from './bytes.ts';
import { readNumbers, writeNumbers } from './numbers.ts';

/** A result of one node on one target, as it is packed. The failure is text that is given back as it was. */
export interface PackedResult {
  readonly dueAt: number;
  readonly status: 'up' | 'down' | 'unknown';
  /** Whole microseconds. */
  readonly durationUs: number | null;
  readonly failure: string | null;
  readonly lateAt: number | null;
}

const version = 1;
const statuses = ['up', 'down', 'unknown'] as const;

/**
 * Packs the results of a node on a target, in order of time, into a few bytes each: due times by the rhythm of the schedule, statuses
 * in runs, durations by what they differ, each text of a failure once. `from` is a moment before all of them.
 */
export function pack(results: readonly PackedResult[], from: number): Uint8Array {
  const bytes = new ByteWriter();
  bytes.unsigned(version);
  bytes.unsigned(results.length);
  writeRuns(bytes, gapsOf(results, from));
  writeRuns(
    bytes,
    results.map(({ status, durationUs }) => statuses.indexOf(status) * 2 + (durationUs === null ? 1 : 0)),
  );
  writeNumbers(
    bytes,
    results.flatMap(({ durationUs }) => durationUs ?? []),
  );
  const failures = [...new Set(results.flatMap(({ failure }) => failure ?? []))];
  bytes.unsigned(failures.length);
  if (failures.length > 0) {
    for (const failure of failures) bytes.text(failure);
    const places = new Map(failures.map((failure, index) => [failure, index + 1]));
    writeRuns(
      bytes,
      results.map(({ failure }) => (failure === null ? 0 : (places.get(failure) ?? 0))),
    );
  }
  let before = 0;
  for (const [index, { dueAt, lateAt }] of results.entries()) {
    if (lateAt === null) continue;
    bytes.unsigned(index - before);
    bytes.signed(lateAt - dueAt);
    before = index;
  }
  return bytes.done();
}

/** Gives back what was packed; `from` is the same moment. Throws a `RangeError` if the bytes are no such pack. */
export function unpack(packed: Uint8Array, from: number): readonly PackedResult[] {
  const bytes = new ByteReader(packed);
  const found = bytes.unsigned();
  if (found !== version) throw new RangeError(`results packed in version ${found}, which this program does not know`);
  const count = bytes.unsigned();
  const gaps = readRuns(bytes, count);
  const words = readRuns(bytes, count);
  const durations = readNumbers(bytes, words.filter((word) => word % 2 === 0).length);
  const failures = Array.from({ length: bytes.unsigned() }, () => bytes.text());
  const places = failures.length === 0 ? [] : readRuns(bytes, count);
  const lateness = new Map<number, number>();
  for (let index = 0; !bytes.atEnd;) {
    index += bytes.unsigned();
    lateness.set(index, bytes.signed());
  }
  let dueAt = from;
  let nextDuration = 0;
  return words.map((word, index) => {
    dueAt += gaps[index] ?? 0;
    const late = lateness.get(index);
    return {
      dueAt,
      status: statuses[Math.floor(word / 2)] ?? 'unknown',
      durationUs: word % 2 === 1 ? null : (durations[nextDuration++] ?? null),
      failure: failures[(places[index] ?? 0) - 1] ?? null,
      lateAt: late === undefined ? null : dueAt + late,
    };
  });
}

function gapsOf(results: readonly PackedResult[], from: number): readonly number[] {
  let last = from;
  return results.map(({ dueAt }) => {
    const gap = dueAt - last;
    last = dueAt;
    return gap;
  });
}

function writeRuns(bytes: ByteWriter, values: readonly number[]): void {
  for (let start = 0; start < values.length;) {
    let end = start + 1;
    while (end < values.length && values[end] === values[start]) end += 1;
    bytes.unsigned(values[start] ?? 0);
    bytes.unsigned(end - start - 1);
    start = end;
  }
}

function readRuns(bytes: ByteReader, count: number): readonly number[] {
  const values: number[] = [];
  while (values.length < count) {
    const value = bytes.unsigned();
    for (let left = bytes.unsigned() + 1; left > 0; left -= 1) values.push(value);
  }
  return values;
}
