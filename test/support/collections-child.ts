import { setTimeout as sleep } from 'node:timers/promises';
import { heapWithGarbage, keepCollectionsRare } from '#kernel/collections.ts';
import { allowedGarbage, collectGarbage } from '#kernel/garbage.ts';

// Prints how much garbage is allowed after a start, and after some was made as fast as can be, and how large that may make the heap.

const livingObjects = 200_000;
const mostRounds = 600;

const living = Array.from({ length: livingObjects }, (_, place) => ({ place }));
let kept: object[] = [];

using _collections = keepCollectionsRare();
collectGarbage();
const start = allowedGarbage() ?? 0;
// What lives through a few rounds is old when it is garbage.
for (let round = 0; round < mostRounds && !((allowedGarbage() ?? 0) > start); round += 1) {
  const made = Array.from({ length: livingObjects / 10 }, (_, place) => ({ place }));
  kept = [...kept.slice(-livingObjects / 2), ...made];
  await sleep(0);
}
const heapBytes = heapWithGarbage(process.constrainedMemory());
process.stdout.write(JSON.stringify({ start, busy: allowedGarbage(), heapBytes, living: living.length }));
