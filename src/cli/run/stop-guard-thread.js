import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import koffi from 'koffi';

// Plain JavaScript: a thread that takes types out would weigh twice as much.

// What a stop may take when everything is well, with some to spare before Docker's ten seconds are over.
const longestStallMs = 8_000;
const lookEveryMs = 500;
const SIGINT = 2;
const SIGTERM = 15;
const SPLICE_F_NONBLOCK = 2;

if (!(workerData instanceof SharedArrayBuffer))
  throw new Error('cli/stop-guard-thread.js runs as a worker thread only');
const state = new Int32Array(workerData);
const libc = bind();

for (;;) {
  const tick = Atomics.load(state, 0);
  if (Atomics.wait(state, 0, tick, longestStallMs) === 'timed-out') watchStall(tick);
}

// Nothing but the main thread itself ends this, or a signal that it does not hear.
function watchStall(tick) {
  // A process that was stopped as a whole goes on by itself.
  while (Atomics.wait(state, 0, tick, lookEveryMs) === 'timed-out') {
    const signal = Atomics.load(state, 1) === 1 ? SIGTERM : (caughtSignal() ?? pendingSignal());
    if (signal !== null) libc.exit(128 + signal);
  }
}

// In a thread that cannot be interrupted, a signal for it is not even caught.
function pendingSignal() {
  const [, pending = '0'] = /^ShdPnd:\s*([\da-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const bits = BigInt(`0x${pending}`);
  return [SIGTERM, SIGINT].find((signal) => (bits & (1n << BigInt(signal - 1))) !== 0n) ?? null;
}

// libuv writes what it has caught into a pipe of its own for the main thread: a pointer and the number, 16 bytes.
function caughtSignal() {
  for (const fd of readdirSync('/proc/self/fd').filter(isPipe)) {
    const bytes = libc.peek(Number(fd));
    if (bytes.length % 16 !== 0) continue;
    for (let at = 0; at < bytes.length; at += 16) {
      const signal = bytes.readInt32LE(at + 8);
      if (signal === SIGTERM || signal === SIGINT) return signal;
    }
  }
  return null;
}

function isPipe(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('pipe:');
  } catch {
    // It was closed meanwhile: that of the listing itself, for one.
    return false;
  }
}

function bind() {
  const program = koffi.load(null);
  const pipe = program.func('pipe2', 'int', ['void *', 'int']);
  const tee = program.func('tee', 'int64_t', ['int', 'int', 'size_t', 'uint32_t']);
  const read = program.func('read', 'int64_t', ['int', 'void *', 'size_t']);
  const exit = program.func('_exit', 'void', ['int']);
  const ends = Buffer.alloc(8);
  pipe(ends, 0o2000000);
  const bytes = Buffer.alloc(4_096);
  return {
    /** What is in a pipe, which stays in it. */
    peek(fd) {
      const copied = Number(tee(fd, ends.readInt32LE(4), bytes.length, SPLICE_F_NONBLOCK));
      return copied <= 0 ? bytes.subarray(0, 0) : bytes.subarray(0, Number(read(ends.readInt32LE(0), bytes, copied)));
    },
    exit: (code) => void exit(code),
  };
}
