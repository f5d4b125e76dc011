import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from './clock.ts';

// What waits a second to be stored with others is dead before it counts as old.
const wantedBytes = 4e6;
const lookEveryMs = 250;
// A thread that makes next to nothing needs no more room than it has.
const mostLooks = 1_200;

/**
 * Lets the room for new objects of this thread grow to a few megabytes, and no further. The program begins with one megabyte and
 * never more, for at its start V8 would take a hundred; threads that are made later have theirs from a flag.
 */
export function widenYoungGeneration(clock: Clock): Disposable {
  let looks = 0;
  let timer = clock.after(lookEveryMs, look);
  setFlagsFromString('--semi-space-growth-factor=4');

  function look(): void {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    looks += 1;
    if (looks < mostLooks && space !== undefined && space.space_used_size + space.space_available_size < wantedBytes)
      timer = clock.after(lookEveryMs, look);
    else setFlagsFromString('--semi-space-growth-factor=1');
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
