import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startUpkeep } from '#compose/history.ts';
import { stableFraction } from '#kernel/hash.ts';
import { hourMs } from '#kernel/units.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { healthy, openAt, quiet, start, tempFolder, up, vote } from '../../support/store.ts';
import { FastClock } from './fast-clock.ts';
import { bytesWritten } from './meter.ts';

// Hours of 1,000 targets every 30 s at one node, with verdicts, as a healthy hub writes them: with sealing beside it.
const targets = 1_000;
const everyMs = 30_000;
const hours = 8;
// Sealing begins in the second hour.
const steadyFrom = 2;
const aim = 200;

/** Prints the bytes written for each result, hour by hour. */
export async function measureHours(): Promise<void> {
  console.log(
    `\n${targets} targets every ${everyMs / 1_000} s at one node, bytes written for each result with sealing`,
  );
  const written = await playHours();
  for (const [hour, bytes] of written.entries()) console.log(`hour ${hour + 1}  ${bytes.toFixed(0).padStart(6)}`);
  const steady = written.slice(steadyFrom);
  const mean = steady.reduce((sum, bytes) => sum + bytes, 0) / steady.length;
  console.log(`hours ${steadyFrom + 1} to ${hours}  ${mean.toFixed(0)} (aim: ${aim})\n`);
}

async function playHours(): Promise<readonly number[]> {
  using folder = tempFolder();
  const random = seededRandom(1);
  const phases = Array.from({ length: targets }, (_, index) => `target-${index}`)
    .map((name) => ({ name, phase: Math.floor(stableFraction(name) * everyMs) }))
    .toSorted((a, b) => a.phase - b.phase);
  const clock = new FastClock(start);
  await using store = openAt(join(folder.path, 'watchpost.db'), clock);
  using _ = startUpkeep(store, { clock, log: quiet, onDone: () => {}, onJudged: () => {} });
  const all: number[] = [];
  for (let hour = start; hour < start + hours * hourMs; hour += hourMs) {
    const written = bytesWritten();
    for (let tick = hour; tick < hour + hourMs; tick += everyMs) {
      for (const { name, phase } of phases) {
        clock.advanceTo(tick + phase);
        const outcome = up(0.0002 + random.next() ** 4 * 0.4);
        void store.record(healthy(name, tick + phase, { votes: [vote('de1', outcome)] }));
      }
      await nextTurn();
    }
    all.push(written() / ((targets * hourMs) / everyMs));
  }
  return all;
}
