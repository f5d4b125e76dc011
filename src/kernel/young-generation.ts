import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from './clock.ts';
import { collectGarbage, limitGarbage } from './garbage.ts';
import { onTick } from './ticks.ts';

// What waits a second to be stored with others is dead before it counts as old.
const wantedBytes = 4e6;
// Of much that waits to be judged most would outlive that, and collecting it would take more CPU than all else.
const wantedOfManyBytes = 16e6;
// At the start of a program so much lives on that the room would grow at once to the most there can be.
const afterMs = 30_000;
const shortestLookMs = 100;
const longestLookMs = 1_000;
const lookingMs = 10_000;
// A full collection shrinks it again where little is made at the time.
const againMs = 60_000;
// Where much comes in, a small room costs more than all else.
const soonMs = 1_000;

// Of what is in use, in percent, how much garbage there may be; V8 would wait for hundreds of megabytes before it collects for the first time.
const leastGrowth = 30;

// Flags are those of the process.
let wanted = wantedBytes;
let widenNow: (() => void) | null = null;

/**
 * To be called when much comes in, as from many nodes: the room for new objects of the first thread grows to 16 MB instead of a
 * few, no thread keeps more garbage than a third of what is in use, and V8 makes all objects as young ones.
 */
export function expectMuch(): void {
  wanted = wantedOfManyBytes;
  // Where many objects once outlived their first collections, V8 would make all of that kind as old ones from then on.
  setFlagsFromString('--no-allocation-site-pretenuring');
  limitGarbage(leastGrowth);
  collectGarbage();
  widenNow?.();
}

/**
 * Lets the room for new objects of this thread grow to a few megabytes, and no further. The program begins with one megabyte and
 * never more, for at its start V8 would take a hundred; threads that are made later have theirs from a flag.
 */
export function widenYoungGeneration(clock: Clock): Disposable {
  let timer = clock.after(wanted === wantedBytes ? afterMs : 0, begin);
  let isCollected = false;
  const observer = new PerformanceObserver(() => (isCollected = true));

  function begin(): void {
    const space = youngSpace();
    if (!isNarrow(space)) return end();
    setFlagsFromString('--semi-space-growth-factor=2');
    observer.observe({ entryTypes: ['gc'] });
    wait(lookingMs, shortestLookMs, space);
  }

  function wait(leftMs: number, ms: number, last: YoungSpace): void {
    isCollected = false;
    const began = clock.elapsed();
    timer = onTick(clock, ms, () => {
      const space = youngSpace();
      // A tick may come much earlier.
      const passedMs = clock.elapsed() - began;
      // A thread that makes next to nothing does not fill the room that it has, and gets no more.
      if (leftMs <= passedMs || !isNarrow(space)) end();
      else wait(leftMs - passedMs, isCollected ? shortestLookMs : nextLookMs(last, space, passedMs), space);
    });
  }

  function end(): void {
    observer.disconnect();
    setFlagsFromString('--semi-space-growth-factor=1');
    timer = clock.after(wanted === wantedBytes ? againMs : soonMs, begin);
  }

  widenNow = () => {
    timer[Symbol.dispose]();
    begin();
  };
  return {
    [Symbol.dispose]() {
      widenNow = null;
      observer.disconnect();
      timer[Symbol.dispose]();
    },
  };
}

/**
 * How long to wait, in milliseconds, after two looks `sinceMs` apart without a collection that was heard of in between: the room grows
 * with each one, and shall not grow twice unseen.
 */
export function nextLookMs(last: YoungSpace, now: YoungSpace, sinceMs: number): number {
  const made = now.used - last.used;
  // Observers hear of a collection a turn later.
  if (made < 0) return shortestLookMs;
  if (made === 0) return longestLookMs;
  const fullInMs = (now.available * sinceMs) / made;
  return Math.min(Math.max(fullInMs, shortestLookMs), longestLookMs);
}

/** The room for new objects of this thread, in bytes. */
export interface YoungSpace {
  readonly used: number;
  readonly available: number;
}

function youngSpace(): YoungSpace {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return { used: space?.space_used_size ?? 0, available: space?.space_available_size ?? Number.POSITIVE_INFINITY };
}

function isNarrow({ used, available }: YoungSpace): boolean {
  return used + available < wanted;
}
