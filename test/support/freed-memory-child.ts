import { readFileSync } from 'node:fs';
import { keepMallocSmall } from '#kernel/malloc.ts';
import { FakeClock } from './fake-clock.ts';

// Frees memory of the C library in pieces between others that stay, and prints how many bytes the process holds then, and how many
// half a minute later.

const piece = 60_000;
const clock = new FakeClock();
using _kept = await keepMallocSmall(clock, false);
const stays: Uint8Array[] = [];
fill();
globalThis.gc?.();
const before = heldBytes();
await clock.advance(30_000);
process.stdout.write(JSON.stringify({ before, after: heldBytes(), stays: stays.length }));

function fill(): void {
  const all = Array.from({ length: 2_000 }, () => new Uint8Array(piece).fill(1));
  stays.push(...all.filter((_, place) => place % 2 === 0));
}

function heldBytes(): number {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1_024;
}
