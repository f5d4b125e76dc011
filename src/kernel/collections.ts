import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { allowGarbage, allowedGarbage, leastGarbage } from './garbage.ts';

// What a request meets while one runs takes as long as it does, and 99 of 100 requests shall meet none.
const wantedShare = 0.01;
// With what is not in the heap a hub of 20,000 results a second has less than 500 MB then.
const mostHeapBytes = 220e6;
// The same relation where a container or a unit has a limit below that, for there the kernel ends what takes more.
const heapShare = 0.45;
const mostGarbage = 200;

/** How large garbage may make the heap of this process, in bytes, where it may have so much memory (0: as much as there is). */
export function heapWithGarbage(limitBytes: number): number {
  return limitBytes === 0 ? mostHeapBytes : Math.min(mostHeapBytes, heapShare * limitBytes);
}

/** One full collection of garbage, as the thread's own clock saw it. */
export interface Collection {
  /** From the beginning of marking to the end of the last pause, in milliseconds. */
  readonly tookMs: number;
  /** Since the end of the one before. */
  readonly sinceMs: number;
  /** What is in use after it, without the room for new objects. */
  readonly liveBytes: number;
  /** How large the heap may become by garbage. */
  readonly heapBytes: number;
}

/** An entry of type `gc`, which the types of Node do not have. */
type CollectionEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

/**
 * How much garbage there may be until the next collection, in percent of what is in use: so much that collecting takes a hundredth
 * of the time, where that leaves the heap under `heapBytes`. On a whole core `least` does.
 */
export function garbageAfter(
  { tookMs, sinceMs, liveBytes, heapBytes }: Collection,
  allowed: number,
  least: number,
): number {
  const wanted = (allowed * tookMs) / sinceMs / wantedShare;
  const room = 100 * (heapBytes / liveBytes - 1);
  return Math.round(Math.max(Math.min(wanted, room, mostGarbage), least));
}

/**
 * Keeps full collections of this thread rare where they take long. V8 marks while the program goes on, some 70 ms for a heap of
 * 60 MB; with a quarter of a core that is half a second, for V8's own threads use up what the program may have.
 */
export function keepCollectionsRare(): Disposable {
  const heapBytes = heapWithGarbage(process.constrainedMemory());
  let beganAt: number | null = null;
  let last: { readonly at: number; readonly allowed: number | null } | null = null;
  const observer = new PerformanceObserver((list) => {
    for (const { detail, startTime, duration } of list.getEntries().filter(isCollection)) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL) beganAt = startTime;
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) ended(startTime + duration);
    }
  });
  observer.observe({ entryTypes: ['gc'] });

  function ended(at: number): void {
    const allowed = allowedGarbage();
    if (last !== null && last.allowed !== null && beganAt !== null) {
      const collection = { tookMs: at - beganAt, sinceMs: at - last.at, liveBytes: oldBytes(), heapBytes };
      // What is allowed now holds from the end of the next one on.
      allowGarbage(garbageAfter(collection, last.allowed, leastGarbage()));
    }
    beganAt = null;
    last = { at, allowed };
  }

  return { [Symbol.dispose]: () => observer.disconnect() };
}

function isCollection(entry: PerformanceEntry): entry is CollectionEntry {
  return entry.entryType === 'gc';
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
  return spaces.reduce((sum, { space_used_size: used }) => sum + used, 0);
}
