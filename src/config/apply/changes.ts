import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { onTick } from '#kernel/ticks.ts';
import { filesLike, isConfigFile } from '../read/source.ts';

/**
 * What tells a configuration that was written from one that was not, without reading it: names, sizes and times of its files,
 * of those like `watched`, and of those that it names.
 */
export async function fingerprintOf(
  path: string,
  watched: readonly string[] = [],
  named: readonly string[] = [],
): Promise<string> {
  const others = new Set((await Promise.all(watched.map(filesLike))).flat());
  const prints = await Promise.all([
    ...[...others].map(async (name) => print(name, await stat(name))),
    ...named.filter((name) => !others.has(name)).map(printOfNamed),
  ]);
  return joinPrints(await printOfConfig(path), prints);
}

/** The fingerprint of the files at the path, as `printOfConfig` gives it, and of others. */
export const joinPrints = (own: string, others: readonly string[]): string =>
  [own, ...[...new Set(others)].toSorted()].join('\n');

/** That of a file that the configuration names. One that is gone is a change like any other: the reload says so. */
export async function printOfNamed(path: string): Promise<string> {
  try {
    return print(path, await stat(path));
  } catch (error) {
    return `${path} ${systemCode(error) ?? messageOf(error)}`;
  }
}

/** That of the file at the path, or of those of the configuration in the folder there. Rejects if that cannot be looked at. */
export async function printOfConfig(path: string): Promise<string> {
  const own = await stat(path);
  if (!own.isDirectory()) return print(path, own);
  const names = (await readdir(path)).filter(isConfigFile).toSorted();
  return (await Promise.all(names.map(async (name) => printOfNamed(join(path, name))))).join('\n');
}

function print(name: string, { ino, size, mtimeMs }: { ino: number; size: number; mtimeMs: number }): string {
  return [name, ino, size, mtimeMs].join(' ');
}

export interface ChangesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
  /** Rejects if the files cannot be read now: then nothing has changed. */
  readonly fingerprint: () => Promise<string>;
  /** Called once for each change, when two reads in a row found the same: the writer has finished. */
  readonly onChange: () => void;
}

/** What looks for changes of the files. */
export interface ChangeWatch extends Disposable {
  /** To be called before the files are read for another reason: until `resume` nothing is a change. */
  pause(): void;
  /** To be called after that with the fingerprint of what was read, which may be of other files; null if that is unknown. */
  resume(fingerprint: string | null): void;
}

/** Looks for changes every so often until it is disposed. */
export function watchForChanges({ clock, log, everyMs, fingerprint, onChange }: ChangesOptions): ChangeWatch {
  let known: string | null = null;
  let last: string | null = null;
  let failures = 0;
  let isOver = false;
  // A look that began before that is over is of what was known then.
  let pauses = 0;
  let isPaused = false;
  let timer = clock.after(0, look);

  function look(): void {
    const before = pauses;
    void fingerprint()
      .then((found) => before === pauses && !isPaused && compare(found), watchFailed)
      .then(() => {
        if (!isOver) timer = onTick(clock, everyMs, look);
      });
  }

  // The first time may fall between an old file that was taken away and the new one.
  function watchFailed(error: unknown): void {
    failures += 1;
    if (failures === 2) log.warn({ reason: messageOf(error) }, 'cannot watch the configuration files');
  }

  function compare(found: string): void {
    if (isOver) return;
    failures = 0;
    known ??= found;
    const isNew = found !== known && found === last;
    last = found;
    if (!isNew) return;
    known = found;
    onChange();
  }

  return {
    pause: () => void (isPaused = true),
    resume(found) {
      isPaused = false;
      pauses += 1;
      known = found ?? known;
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
    },
  };
}
