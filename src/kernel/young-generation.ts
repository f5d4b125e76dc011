import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from './clock.ts';

// What waits a second to be stored with others is dead before it counts as old.
const wantedBytes = 4e6;
// At the start of a program so much lives on that the room would grow at once to the most there can be.
const afterMs = 30_000;
const lookEveryMs = 100;
const mostLooks = 1_200;

/**
 * Lets the room for new objects of this thread grow to a few megabytes, and no further. The program begins with one megabyte and
 * never more, for at its start V8 would take a hundred; threads that are made later have theirs from a flag.
 */
export function widenYoungGeneration(clock: Clock): Disposable {
  let looks = 0;
  let timer = clock.after(afterMs, begin);

  function begin(): void {
    setFlagsFromString('--semi-space-growth-factor=2');
    look();
  }

  function look(): void {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    looks += 1;
    // A thread that makes next to nothing needs no more room than it has.
    if (looks < mostLooks && space !== undefined && space.space_used_size + space.space_available_size < wantedBytes)
      timer = clock.after(lookEveryMs, look);
    else setFlagsFromString('--semi-space-growth-factor=1');
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
