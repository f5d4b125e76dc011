import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { type Clock, endsWithin, sleepUnlessAborted } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { unlessMissing } from '#kernel/files.ts';
import type { Log } from '#kernel/log.ts';
import { privateMode } from '#kernel/private-files.ts';
import type { Random } from '#kernel/random.ts';
import type { ExportEvents } from './export-events.ts';
import { LineQueue } from './line-queue.ts';
import { pauseMs } from './pace.ts';
import type { ResultSink } from './result-sink.ts';

export interface ResultFileSettings {
  readonly path: string;
  readonly maxBytes: number;
  readonly keep: number;
}

export interface ResultFileOptions extends ResultFileSettings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: ExportEvents;
}

const mostWaiting = 8_388_608;
const mostAtOnce = 1_048_576;
const togetherMs = 250;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
const stopMs = 2_000;

/**
 * Appends lines to a file, which is renamed at a size. Lines wait in memory while it cannot be written; checks never wait. A file that
 * something else has renamed or deleted is begun anew with the next lines.
 */
export function startResultFile(options: ResultFileOptions): ResultSink<ResultFileSettings> {
  const { clock, random, log, events } = options;
  const queue = new LineQueue(mostWaiting);
  const stopping = new AbortController();
  let settings: ResultFileSettings = options;
  let file = new RotatedFile(settings);
  let openedBy = settings;
  let failures = 0;
  let dropped = 0;

  async function write(): Promise<boolean> {
    const lines = queue.take(Infinity, mostAtOnce);
    if (lines.length === 0) return true;
    const { path } = settings;
    try {
      await followSettings();
      await file.append(lines.join(''));
    } catch (error) {
      events.failed('file');
      if (failures === 0) log.warn({ path, reason: messageOf(error) }, 'cannot write results to the file; retrying');
      failures += 1;
      drop(queue.putBack(lines));
      return false;
    }
    events.sent('file', lines.length, clock.now());
    if (failures > 0) log.info({ path, dropped }, 'results are written to the file again');
    failures = 0;
    dropped = 0;
    return true;
  }

  async function followSettings(): Promise<void> {
    if (openedBy === settings) return;
    await file.close();
    file = new RotatedFile(settings);
    openedBy = settings;
  }

  function drop(count: number): void {
    if (count === 0) return;
    dropped += count;
    events.dropped('file', count);
  }

  async function work(): Promise<void> {
    const { signal } = stopping;
    while (await sleepUnlessAborted(clock, pause(), signal)) while ((await write()) && queue.length > 0);
    while (queue.length > 0 && (await write()));
    drop(queue.take(Infinity, Infinity).length);
    await file.close();
  }

  const pause = () => (failures === 0 ? togetherMs : pauseMs(failures, firstPauseMs, longestPauseMs, random));
  const ended = work();
  return {
    add: (lines) => drop(queue.add(lines)),
    reconfigure(next) {
      settings = next;
      failures = 0;
    },
    async stop() {
      stopping.abort(new Error('the export of results stops'));
      await endsWithin(ended, clock, stopMs);
    },
  };
}

/** A file that is renamed to `<path>.1` before it would grow beyond a size, as many as are kept. */
class RotatedFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #keep: number;
  #open: { readonly handle: FileHandle; readonly ino: number; size: number } | null = null;
  #mode = privateMode;

  constructor({ path, maxBytes, keep }: ResultFileSettings) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#keep = keep;
  }

  /** Appends all of a text, or leaves the file as it was as far as that is possible, and rejects. */
  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    let open = await this.#current();
    if (open.size > 0 && open.size + bytes.length > this.#maxBytes) {
      await this.#rotate();
      open = await this.#current();
    }
    try {
      await open.handle.appendFile(bytes);
      open.size += bytes.length;
    } catch (error) {
      // Lines that were cut off are taken away again; if that fails too, the next opening ends the last one.
      const failure = await open.handle.truncate(open.size).then(
        () => null,
        (reason: unknown) => reason,
      );
      await this.close();
      if (failure === null) throw error;
      const left = `a part of the lines stays in the file: ${messageOf(failure)}`;
      throw new AggregateError([error, failure], `${messageOf(error)}; ${left}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.handle.close();
  }

  async #current(): Promise<{ readonly handle: FileHandle; size: number }> {
    const there = await unlessMissing(stat(this.#path));
    if (this.#open !== null && there?.ino !== this.#open.ino) await this.close();
    if (this.#open !== null) return this.#open;
    const handle = await open(this.#path, 'a+', this.#mode);
    try {
      const { ino, size, mode } = await handle.stat();
      this.#mode = mode & 0o777;
      this.#open = { handle, ino, size: size + (await endLine(handle, size)) };
      return this.#open;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async #rotate(): Promise<void> {
    await this.close();
    await rm(`${this.#path}.${this.#keep}`, { force: true });
    for (let number = this.#keep - 1; number >= 1; number -= 1)
      await unlessMissing(rename(`${this.#path}.${number}`, `${this.#path}.${number + 1}`));
    await rename(this.#path, `${this.#path}.1`);
  }
}

/** Ends a last line that was cut off, by a kill for instance. Gives how many bytes that took. */
async function endLine(handle: FileHandle, size: number): Promise<number> {
  if (size === 0) return 0;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer[0] === 0x0a) return 0;
  await handle.appendFile('\n');
  return 1;
}
