import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { LibraryHandle } from 'koffi';
import { bindCLibrary } from './c-library.ts';

// A system call on a hanging disk blocks the main thread, and then no signal handler runs: another thread has to look.

/** Guards the stop of this process: ends it after SIGTERM or SIGINT even if its main thread hangs. */
export interface StopGuard {
  /** What threads that look share with the main one, as `createStopWatch` takes it. */
  readonly shared: SharedArrayBuffer;
  /** Another thread looks from now on, so that none is needed for this alone, until the result is disposed. */
  relieve(): Disposable;
}

/** Looks from a thread whether the main one goes on. */
export interface StopWatch {
  /** To be called again and again: ends the process if the main thread hangs and SIGTERM or SIGINT came. */
  look(): void;
  /** The same for a thread with nothing else to do, which sleeps in it. Never returns. */
  lookForever(): never;
}

/** Places in what is shared: a number that grows as long as the main thread goes on, and 1 once it was asked to stop. */
export const stopGuardPlaces = { tick: 0, stopping: 1 } as const;

// What a stop may take if everything is well, with some to spare before Docker's ten seconds are over.
const longestStallMs = 8_000;
const lookEveryMs = 500;
// One of them less than the same in seconds: a tick may come just before a look, and a look may be late.
const looksUntilStall = 7;
const SIGINT = 2;
const SIGTERM = 15;
const SPLICE_F_NONBLOCK = 2;

/**
 * Looks at what the main thread shares. `look` is meant to be called every second: it counts looks and not time, because a
 * process that was stopped as a whole goes on by itself. Rejects if the C library cannot be called.
 */
export async function createStopWatch(shared: SharedArrayBuffer): Promise<StopWatch> {
  const state = new Int32Array(shared);
  const { tick, stopping } = stopGuardPlaces;
  const libc = await bindCLibrary(bind);
  let last = Atomics.load(state, tick);
  let looks = 0;

  function endIfAsked(): void {
    const signal =
      Atomics.load(state, stopping) === 1 ? SIGTERM : (caughtSignal((fd) => libc.peek(fd)) ?? pendingSignal());
    if (signal !== null) libc.exit(128 + signal);
  }

  return {
    look() {
      const now = Atomics.load(state, tick);
      looks = now === last ? looks + 1 : 0;
      last = now;
      if (looks >= looksUntilStall) endIfAsked();
    },
    lookForever() {
      for (;;) {
        const now = Atomics.load(state, tick);
        if (Atomics.wait(state, tick, now, longestStallMs) !== 'timed-out') continue;
        while (Atomics.wait(state, tick, now, lookEveryMs) === 'timed-out') endIfAsked();
      }
    },
  };
}

// In a thread that cannot be interrupted, a signal for it is not even caught.
function pendingSignal(): number | null {
  const [, pending = '0'] = /^ShdPnd:\s*([\da-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const bits = BigInt(`0x${pending}`);
  return [SIGTERM, SIGINT].find((signal) => (bits & (1n << BigInt(signal - 1))) !== 0n) ?? null;
}

// libuv writes what it has caught into a pipe of its own for the main thread: a pointer and the number, 16 bytes.
function caughtSignal(peek: (fd: number) => Buffer): number | null {
  for (const fd of readdirSync('/proc/self/fd').filter(isPipe)) {
    const bytes = peek(Number(fd));
    if (bytes.length % 16 !== 0) continue;
    for (let at = 0; at < bytes.length; at += 16) {
      const signal = bytes.readInt32LE(at + 8);
      if (signal === SIGTERM || signal === SIGINT) return signal;
    }
  }
  return null;
}

function isPipe(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('pipe:');
  } catch {
    // It was closed meanwhile: that of the listing itself, for one.
    return false;
  }
}

function bind(program: LibraryHandle) {
  const pipe = program.func('pipe2', 'int', ['void *', 'int']);
  const tee = program.func('tee', 'int64_t', ['int', 'int', 'size_t', 'uint32_t']);
  const read = program.func('read', 'int64_t', ['int', 'void *', 'size_t']);
  const exit = program.func('_exit', 'void', ['int']);
  const bytes = Buffer.alloc(4_096);
  let ends: Buffer | null = null;
  return {
    /** What is in a pipe, which stays in it. */
    peek(fd: number): Buffer {
      // Made when it is needed: a thread that ends leaves its descriptors open.
      if (ends === null) pipe((ends = Buffer.alloc(8)), 0o2000000);
      const copied = Number(tee(fd, ends.readInt32LE(4), bytes.length, SPLICE_F_NONBLOCK));
      return copied <= 0 ? bytes.subarray(0, 0) : bytes.subarray(0, Number(read(ends.readInt32LE(0), bytes, copied)));
    },
    exit: (code: number) => void exit(code),
  };
}
