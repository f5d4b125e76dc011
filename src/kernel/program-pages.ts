import { open, readlink } from 'node:fs/promises';
import type { Clock } from './clock.ts';

// From Linux's mman.h.
const MADV_DONTNEED = 4;

// As `keepMallocSmall`: what starting read of the program is not needed by then, and later what rare work read.
const firstAfterMs = 30_000;
const everyMs = 600_000;
// Mappings are in the order of their addresses, and the program is among the first.
const longestBeginning = 32_768;

/** Addresses from `start` until before `end`. */
export interface AddressSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Every ten minutes takes the pages of Node's own file out of this process, half a minute after the start for the first time; those in
 * use come back at once, from the page cache of the system. Of 56 MB that the start has read, 27 are not needed afterwards. Only Linux
 * has it; elsewhere nothing is done.
 */
export async function releaseProgramPages(clock: Clock): Promise<Disposable> {
  const advise = await bind();
  if (advise === null) return { [Symbol.dispose]: () => {} };
  let isOver = false;
  let timer = clock.after(firstAfterMs, releasePages);

  function releasePages(): void {
    void release(advise).then((released) => {
      if (released && !isOver) timer = clock.after(everyMs, releasePages);
    });
  }

  return {
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
    },
  };
}

type Advise = (start: number, bytes: number, advice: number) => void;

// False if this system does not tell where the program is.
async function release(advise: Advise | null): Promise<boolean> {
  try {
    const [smaps, program] = await Promise.all([beginningOf('/proc/self/smaps'), readlink('/proc/self/exe')]);
    for (const { start, end } of unwrittenSpans(smaps, program)) advise?.(start, end - start, MADV_DONTNEED);
    return true;
  } catch {
    // No such file, or not for this process: its pages stay.
    return false;
  }
}

// The system writes it while it is read, some kilobytes for each call, and goes through all pages of the mappings for that.
async function beginningOf(path: string): Promise<string> {
  await using file = await open(path);
  const buffer = Buffer.allocUnsafe(longestBeginning);
  let length = 0;
  for (let bytesRead = -1; bytesRead !== 0 && length < buffer.length;) {
    ({ bytesRead } = await file.read(buffer, length, buffer.length - length));
    length += bytesRead;
  }
  return buffer.toString('utf8', 0, length);
}

/**
 * Where the image of a program lies in memory that cannot be written and never was, out of the text of `/proc/PID/smaps` (proc(5)). What
 * was written, as by the dynamic linker, would be lost. Other mappings of the same file come and go with threads: they are not in it.
 */
export function unwrittenSpans(smaps: string, program: string): readonly AddressSpan[] {
  const spans: AddressSpan[] = [];
  let isImage = false;
  let span: AddressSpan | null = null;
  for (const line of smaps.split('\n')) {
    const [, start, end, rights = '', offset = '', file] =
      /^([\da-f]+)-([\da-f]+) (\S{4}) ([\da-f]+) \S+ \d+ *(.*)$/.exec(line) ?? [];
    if (start !== undefined && end !== undefined) {
      if (isImage && rights.includes('w')) return spans;
      if (file === program && /^0+$/.test(offset)) isImage = true;
      const isPart = isImage && file === program && /^r-[-x]p$/.test(rights);
      span = isPart ? { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) } : null;
    } else if (span !== null && /^Anonymous: +0 kB$/.test(line)) spans.push(span);
  }
  return spans;
}

async function bind(): Promise<Advise | null> {
  if (process.platform !== 'linux') return null;
  try {
    const { default: koffi } = await import('koffi');
    const advise = koffi.load(null).func('madvise', 'int', ['uintptr_t', 'size_t', 'int']);
    return (start, bytes, advice) => void advise(start, bytes, advice);
  } catch {
    // No koffi for this machine: it goes without.
    return null;
  }
}
