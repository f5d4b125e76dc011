import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { releaseProgramPages } from '#kernel/program-pages.ts';
import { FakeClock } from './fake-clock.ts';

// Prints how many bytes of files this process holds after its start, and half a minute later.

const clock = new FakeClock();
using _released = await releaseProgramPages(clock);
const before = heldBytes();
await clock.advance(30_000);
// The map is read beside the event loop.
let after = before;
for (let left = 100; left > 0 && after >= before; left -= 1) {
  await sleep(50);
  after = heldBytes();
}
process.stdout.write(JSON.stringify({ before, after }));

function heldBytes(): number {
  return Number(/^RssFile:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;
}
