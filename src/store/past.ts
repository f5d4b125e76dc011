import type { RoundRecord } from '#monitor/judge/round-record.ts';
import { tally } from '#monitor/judge/verdict.ts';
import { openDatabase, type OpenOptions } from './open.ts';
import { openHistoryParts } from './sealing/parts.ts';
import { keptByDefault } from './sealing/forget.ts';
import { createWriter } from './write.ts';

const atOnce = 5_000;
// How long a result counts if none follows: the interval is unknown.
const holdsMs = 600_000;
// What is written was imported, not measured: it may be of any time.
const anyTime = { now: () => Number.MAX_SAFE_INTEGER, elapsed: () => 0 };

/**
 * Writes rounds of the past into a database that is not in use, those that it has already left as they are. Returns how many.
 * `onWritten` hears from time to time how many were looked at.
 */
export function writePast(
  options: OpenOptions,
  rounds: Iterable<RoundRecord>,
  onWritten: (count: number) => void = () => {},
): number {
  using file = openDatabase(options);
  const parts = openHistoryParts(file.raw, keptByDefault, anyTime);
  const writer = createWriter(file, parts);
  const write = file.raw.transaction((batch: readonly RoundRecord[]) =>
    batch.filter((round) => writer.writeRound(judged(round)) === 'stored'),
  );
  let stored = 0;
  let looked = 0;
  let batch: RoundRecord[] = [];
  for (const round of rounds) {
    batch.push(round);
    if (batch.length < atOnce) continue;
    stored += write.immediate(batch).length;
    looked += batch.length;
    onWritten(looked);
    batch = [];
  }
  stored += write.immediate(batch).length;
  parts.periods.transactionEnded('committed');
  parts.periods.flush();
  return stored;
}

// They were never judged: the target was as most of the nodes saw it.
function judged(round: RoundRecord): RoundRecord {
  const { status } = tally(round.votes, { kind: 'majority' });
  return { verdict: { status, inMaintenance: false, holdsMs }, ...round };
}
