import { isSame } from '#config/apply/same.ts';

/** A part of the program that a reload can change. */
export interface StoppablePart<Options> {
  stop(): Promise<void>;
  /** Goes on with other options and with all that waits. Without it, the part is ended and another one started. */
  reconfigure?(options: Options): void;
  /** Takes on nothing new, and resolves when what waits is done with, or by `stop`. Without it, the part is stopped. */
  finish?(): Promise<void>;
}

export interface ReplaceablePart<Options, Part> {
  current(): Part | null;
  /** Does nothing if the options are the same. */
  update(next: Options): void;
  stop(): Promise<void>;
}

/** A part that follows the configuration; without options there is none. One that is replaced ends by itself meanwhile. */
export function createReplaceablePart<Options, Part extends StoppablePart<NonNullable<Options>>>(
  first: Options,
  start: (options: NonNullable<Options>) => Part | null,
): ReplaceablePart<Options, Part> {
  const startFrom = (of: Options) => (of === null || of === undefined ? null : start(of));
  let options = first;
  let part = startFrom(first);
  const ending = new Map<Part, Promise<void>>();

  function end(replaced: Part): void {
    const ended = (replaced.finish?.() ?? replaced.stop()).finally(() => ending.delete(replaced));
    ending.set(replaced, ended);
  }

  return {
    current: () => part,
    update(next) {
      if (isSame(options, next)) return;
      options = next;
      if (part?.reconfigure !== undefined && next !== null && next !== undefined) return part.reconfigure(next);
      if (part !== null) end(part);
      part = startFrom(next);
    },
    async stop() {
      await Promise.all([part, ...ending.keys()].map(async (one) => one?.stop()));
      await Promise.all(ending.values());
    },
  };
}
