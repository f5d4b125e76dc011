import { type BigIntStats, statSync } from 'node:fs';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { onTick } from '#kernel/ticks.ts';

/** Whether the names that were opened still lead to the files that were opened. */
export interface FileWatch extends Disposable {
  /** What is wrong, with the way out, and when it was last seen right; null if all is well. */
  trouble(): FileTrouble | null;
}

export interface FileTrouble {
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface WatchedFiles {
  /** Those that were opened. */
  readonly mustBe: readonly string[];
  /** Those that SQLite makes with the first write: they are watched from then on. */
  readonly mayCome: readonly string[];
}

const lookEveryMs = 30_000;

/**
 * Looks every 30 seconds. A file that was deleted or exchanged while it is open takes what is written and loses it at the end, and
 * an exchanged lock lets a second daemon in: nothing else would tell of it.
 */
export function watchFiles({ mustBe, mayCome }: WatchedFiles, { clock, log }: { clock: Clock; log: Log }): FileWatch {
  const opened = new Map(mustBe.map((path) => [path, statSync(path, { bigint: true })]));
  let seenRightAt = clock.now();
  let trouble: FileTrouble | null = null;
  mayCome.forEach(fileProblem);
  let timer = onTick(clock, lookEveryMs, look);

  function look(): void {
    timer = onTick(clock, lookEveryMs, look);
    const message = [...mustBe, ...mayCome].map(fileProblem).find((found) => found !== null) ?? null;
    if (message !== null && trouble?.message !== message)
      log.error({ reason: message }, 'database file was replaced or deleted');
    if (message === null && trouble !== null) log.info({ files: [...opened.keys()] }, 'database file is back');
    if (message === null) seenRightAt = clock.now();
    trouble = message === null ? null : { message, since: seenRightAt };
  }

  function fileProblem(path: string): string | null {
    try {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      const right = opened.get(path);
      if (right === undefined && found !== undefined) opened.set(path, found);
      return right === undefined ? null : difference(path, right, found);
    } catch (error) {
      return `${path}: cannot be looked at (${messageOf(error)}): ${wayOut}`;
    }
  }

  return { trouble: () => trouble, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

const wayOut = 'what is written now is lost at the next start; put the right file there and restart';

function difference(path: string, opened: BigIntStats, found: BigIntStats | undefined): string | null {
  if (found === undefined) return `${path}: was deleted or moved while it is in use: ${wayOut}`;
  if (found.dev === opened.dev && found.ino === opened.ino) return null;
  return `${path}: another file stands in place of the one that was opened: ${wayOut}`;
}
