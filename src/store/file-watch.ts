import { type BigIntStats, statSync } from 'node:fs';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

/** Whether the names that were opened still lead to the files that were opened. */
export interface FileWatch extends Disposable {
  /** What is wrong, with the way out, and when it was last seen right; null where all is well. */
  trouble(): FileTrouble | null;
}

export interface FileTrouble {
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

const lookEveryMs = 30_000;

/**
 * Looks every 30 seconds. A file that was deleted or exchanged while it is open takes what is written and loses it at the end, and
 * an exchanged lock lets a second daemon in: nothing else would tell of it.
 */
export function watchFiles(paths: readonly string[], { clock, log }: { clock: Clock; log: Log }): FileWatch {
  const opened = paths.map((path) => ({ path, at: statSync(path, { bigint: true }) }));
  let seenRightAt = clock.now();
  let trouble: FileTrouble | null = null;
  let timer = clock.after(lookEveryMs, look);

  function look(): void {
    timer = clock.after(lookEveryMs, look);
    const message = opened.map(({ path, at }) => wrongWith(path, at)).find((found) => found !== null) ?? null;
    if (message !== null && trouble?.message !== message)
      log.error({ reason: message }, 'database file is not the one that was opened');
    if (message === null && trouble !== null)
      log.info({ files: paths }, 'database file is the one that was opened again');
    if (message === null) seenRightAt = clock.now();
    trouble = message === null ? null : { message, since: seenRightAt };
  }

  return { trouble: () => trouble, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

const wayOut = 'what is written now is lost at the next start; put the right file there and restart';

function wrongWith(path: string, opened: BigIntStats): string | null {
  try {
    const found = statSync(path, { bigint: true });
    if (found.dev === opened.dev && found.ino === opened.ino) return null;
    return `${path}: another file stands in place of the one that was opened: ${wayOut}`;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return `${path}: was deleted or moved while it is in use: ${wayOut}`;
    return `${path}: cannot be looked at (${messageOf(error)}): ${wayOut}`;
  }
}
