import { getHeapStatistics } from 'node:v8';
import { collectStartupGarbage } from '#kernel/garbage.ts';
import { expectMuch } from '#kernel/young-generation.ts';
import { FakeClock } from './fake-clock.ts';

// Makes old objects that are garbage, and prints how many bytes V8 has for objects then, and how many half a minute later. With the
// argument "much", much is expected before.

const clock = new FakeClock();
using _collection = collectStartupGarbage(clock);
if (process.argv[2] === 'much') expectMuch();
make();
const before = getHeapStatistics().used_heap_size;
await clock.advance(30_000);
process.stdout.write(JSON.stringify({ before, after: getHeapStatistics().used_heap_size }));

// They live for long enough to become old.
function make(): void {
  const made: { readonly place: number }[] = [];
  for (let place = 0; place < 400_000; place += 1) made.push({ place });
  if (made.length === 0) throw new Error('nothing was made');
}
