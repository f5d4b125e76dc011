import { bindCLibrary } from './c-library.ts';
import type { Clock } from './clock.ts';

// From glibc's malloc.h.
const M_TRIM_THRESHOLD = -1;
const M_ARENA_MAX = -8;

const enoughArenas = 2;
// Left alone, glibc keeps twice as much as the largest buffer that was ever freed: after V8 has compiled something long, 15 MB.
const keptBytes = 1 << 20;
// What starting took is free by then; later much is free after a reload, or after pages that were looked at.
const firstAfterMs = 30_000;
const everyMs = 600_000;

/**
 * Keeps small what the C library holds: few arenas for all threads, unless `chosen` says that their number was set, little
 * that is free at their ends, and every ten minutes what is free goes back to the system, which takes some milliseconds. Only glibc needs this; elsewhere
 * nothing is done.
 */
export async function keepMallocSmall(clock: Clock, chosen: boolean): Promise<Disposable> {
  const malloc = await bind();
  if (malloc === null) return { [Symbol.dispose]: () => {} };
  if (!chosen) malloc.setOption(M_ARENA_MAX, enoughArenas);
  malloc.setOption(M_TRIM_THRESHOLD, keptBytes);
  let timer = clock.after(firstAfterMs, releaseFreeMemory);

  function releaseFreeMemory(): void {
    malloc?.trim(0);
    timer = clock.after(everyMs, releaseFreeMemory);
  }

  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

interface Malloc {
  setOption(option: number, value: number): void;
  trim(padding: number): void;
}

async function bind(): Promise<Malloc | null> {
  if (process.platform !== 'linux') return null;
  try {
    return await bindCLibrary((program) => {
      const setOption = program.func('mallopt', 'int', ['int', 'int']);
      const trim = program.func('malloc_trim', 'int', ['size_t']);
      return { setOption: (option, value) => void setOption(option, value), trim: (padding) => void trim(padding) };
    });
  } catch {
    // Another C library, or no koffi for this machine: it goes without.
    return null;
  }
}
