import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from './clock.ts';

// What waits a second to be stored with others is dead before it counts as old.
const wantedBytes = 4e6;
// At the start of a program so much lives on that the room would grow at once to the most there can be.
const afterMs = 30_000;
const lookEveryMs = 100;
const mostLooks = 100;
// A full collection shrinks it again where little is made at the time.
const againMs = 60_000;

let isUnlimited = false;

/**
 * Lets the room for new objects grow as V8 sees fit from now on. Of much that waits to be judged most would outlive a small room, and
 * collecting it takes more CPU than all else; it costs up to 90 MB.
 */
export function unlimitYoungGeneration(): void {
  isUnlimited = true;
  setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Lets the room for new objects of this thread grow to a few megabytes, and no further. The program begins with one megabyte and
 * never more, for at its start V8 would take a hundred; threads that are made later have theirs from a flag.
 */
export function widenYoungGeneration(clock: Clock): Disposable {
  let timer = clock.after(afterMs, begin);

  function begin(): void {
    if (isNarrow()) setFlagsFromString('--semi-space-growth-factor=2');
    look(mostLooks);
  }

  // A thread that makes next to nothing does not fill the room that it has, and gets no more.
  function look(left: number): void {
    if (left > 0 && isNarrow()) {
      timer = clock.after(lookEveryMs, () => look(left - 1));
      return;
    }
    if (isUnlimited) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    timer = clock.after(againMs, begin);
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

function isNarrow(): boolean {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return space !== undefined && space.space_used_size + space.space_available_size < wantedBytes;
}
