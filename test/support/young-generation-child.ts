import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '#kernel/clock.ts';
import { expectMuch, widenYoungGeneration } from '#kernel/young-generation.ts';
import { FakeClock } from './fake-clock.ts';

// Prints how much room there is for new objects before it is widened, once it was, when V8 has taken it away, after that, and when much is
// expected; and how long the waits for a look were, in milliseconds, while it was widened, and while nothing was made.

const mostTries = 3_000;
const wideBytes = 4e6;
const widestBytes = 16e6;

setFlagsFromString('--semi-space-growth-factor=1');
const clock = new FakeClock();
const waits: number[] = [];
const observed: Clock = {
  now: () => clock.now(),
  elapsed: () => clock.elapsed(),
  after(ms, action) {
    waits.push(ms);
    return clock.after(ms, action);
  },
};
const kept: { readonly place: number }[] = [];
const collect = globalThis.gc as ((options: { flavor: string }) => void) | undefined;

using _widening = widenYoungGeneration(observed);
work();
const before = roomBytes();
await clock.advance(30_000);
waits.length = 0;
const widened = await workUntilWide();
const busyWaits = [...waits];
collect?.({ flavor: 'last-resort' });
const taken = roomBytes();
waits.length = 0;
await clock.advance(75_000);
const quietWaits = [...waits];
await clock.advance(60_000);
const again = await workUntilWide();
expectMuch();
const much = await workUntilWide(widestBytes);
process.stdout.write(JSON.stringify({ before, widened, taken, again, much, busyWaits, quietWaits }));

async function workUntilWide(bytes = wideBytes): Promise<number> {
  for (let tries = 0; roomBytes() < bytes && tries < mostTries; tries += 1) {
    work();
    if (tries % 5 === 0) await clock.advance(100);
  }
  return roomBytes();
}

function work(): void {
  for (let place = 0; place < 20_000; place += 1) kept[place] = { place };
}

function roomBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return space === undefined ? 0 : space.space_used_size + space.space_available_size;
}
