import type { Clock } from '#kernel/clock.ts';

/** Bounds how many messages are on their way at a time, without those to whom an attempt takes long. */
export interface ConcurrencyLimit {
  inside<Result>(work: () => Promise<Result>): Promise<Result>;
}

// Each may be a connection to one server: more would be unkind to it.
const rooms = 4;
// From then on an attempt takes no room of those who answer.
const lingersAfterMs = 5_000;

export function createRooms(clock: Clock): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let free = rooms;

  async function enter(): Promise<void> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async inside(work) {
      await enter();
      let isInside = true;
      const out = () => {
        if (isInside) leave();
        isInside = false;
      };
      const timer = clock.after(lingersAfterMs, out);
      try {
        return await work();
      } finally {
        timer[Symbol.dispose]();
        out();
      }
    },
  };
}
