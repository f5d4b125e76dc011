import type { RoundRecord } from '#monitor/judge/round-record.ts';
import { openDatabase, type OpenOptions } from './open.ts';
import { createWriter } from './write.ts';

const atOnce = 5_000;

/** Writes rounds of the past into a database that nobody uses, those that it has already left as they are. Returns how many. */
export function writePast(options: OpenOptions, rounds: Iterable<RoundRecord>): number {
  using file = openDatabase(options);
  const writer = createWriter(file.drizzle);
  const write = file.raw.transaction((batch: readonly RoundRecord[]) =>
    batch.filter((round) => writer.writeRound(round) === 'stored'),
  );
  let stored = 0;
  let batch: RoundRecord[] = [];
  for (const round of rounds) {
    batch.push(round);
    if (batch.length < atOnce) continue;
    stored += write.immediate(batch).length;
    batch = [];
  }
  return stored + write.immediate(batch).length;
}
