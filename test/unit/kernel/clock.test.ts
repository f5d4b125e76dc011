import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import {
  type Clock,
  deadline,
  DeadlineError,
  orAbort,
  sleep,
  sleepUnlessAborted,
  sleepUntil,
  systemClock,
} from '#kernel/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const never = new AbortController().signal;
const settled = async (promise: Promise<unknown>) => {
  let state = 'pending';
  promise.then(
    () => (state = 'resolved'),
    () => (state = 'rejected'),
  );
  await new Promise(setImmediate);
  return state;
};

test('sleep resolves when its time has passed and not before', async () => {
  const clock = new FakeClock();
  const slept = sleep(clock, 1_000, never);
  await clock.advance(999);
  expect(await settled(slept)).toBe('pending');
  await clock.advance(1);
  expect(await settled(slept)).toBe('resolved');
});

test('sleep rejects with the reason of the signal and leaves no timer behind', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const slept = sleep(clock, 1_000, stop.signal);
  stop.abort(new Error('shutdown'));
  await expect(slept).rejects.toThrow('shutdown');
  expect(clock.pending).toBe(0);
});

test('sleep under a signal that is aborted already takes no timer', async () => {
  const clock = new FakeClock();
  await expect(sleep(clock, 1_000, AbortSignal.abort(new Error('shutdown')))).rejects.toThrow('shutdown');
  expect(clock.pending).toBe(0);
});

test('a reason that is no error becomes the cause of one', async () => {
  const stop = new AbortController();
  const slept = sleep(new FakeClock(), 1_000, stop.signal);
  stop.abort('enough');
  await expect(slept).rejects.toMatchObject({ message: 'aborted', cause: 'enough' });
});

test('an abort after the end of a sleep changes nothing', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const slept = sleep(clock, 1_000, stop.signal);
  await clock.advance(1_000);
  stop.abort();
  await expect(slept).resolves.toBeUndefined();
});

test('sleepUnlessAborted says whether its time has passed', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const slept = sleepUnlessAborted(clock, 1_000, stop.signal);
  await clock.advance(1_000);
  expect(await slept).toBe(true);
  const cut = sleepUnlessAborted(clock, 1_000, stop.signal);
  stop.abort(new Error('shutdown'));
  expect(await cut).toBe(false);
  expect(await sleepUnlessAborted(clock, 1_000, stop.signal)).toBe(false);
  expect(clock.pending).toBe(0);
});

test('sleepUntil returns at once where the time has come', async () => {
  const clock = new FakeClock();
  await sleepUntil(clock, clock.now(), never);
  expect(clock.pending).toBe(0);
});

test('sleepUntil keeps to the wall clock when that is set forwards', async () => {
  const clock = new FakeClock();
  const slept = sleepUntil(clock, clock.now() + 3_600_000, never);
  await clock.advance(30_000);
  clock.step(3_600_000);
  expect(await settled(slept)).toBe('pending');
  await clock.advance(30_000);
  expect(await settled(slept)).toBe('resolved');
});

test('sleepUntil waits longer when the wall clock is set back', async () => {
  const clock = new FakeClock();
  const slept = sleepUntil(clock, clock.now() + 120_000, never);
  await clock.advance(60_000);
  clock.step(-60_000);
  await clock.advance(60_000);
  expect(await settled(slept)).toBe('pending');
  await clock.advance(60_000);
  expect(await settled(slept)).toBe('resolved');
});

test('sleepUntil rejects when it is aborted in any of its naps', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const slept = sleepUntil(clock, clock.now() + 600_000, stop.signal);
  await clock.advance(150_000);
  stop.abort(new Error('shutdown'));
  await expect(slept).rejects.toThrow('shutdown');
  expect(clock.pending).toBe(0);
});

test('a deadline aborts with its own error when its time has passed', async () => {
  const clock = new FakeClock();
  using limit = deadline(clock, 500);
  await clock.advance(499);
  expect([limit.signal.aborted, limit.expired]).toEqual([false, false]);
  await clock.advance(1);
  expect([limit.signal.aborted, limit.expired]).toEqual([true, true]);
  expect(limit.signal.reason).toBeInstanceOf(DeadlineError);
  expect(limit.signal.reason).toMatchObject({ ms: 500, message: 'no answer within 500 ms' });
});

test.each([
  { heldUpMs: 49, endsAfter: 500 },
  { heldUpMs: 200, endsAfter: 700 },
  { heldUpMs: 600, endsAfter: 1_000 },
])('a deadline goes on for as long as the thread was held up, at most twice: $heldUpMs ms', async (row) => {
  const clock = new FakeClock();
  const observed: Clock = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after: (ms, action) => clock.after(ms, action),
    // What was before does not count.
    heldUpMs: () => 1_000 + (clock.elapsed() - began > 300 ? row.heldUpMs : 0),
  };
  const began = clock.elapsed();
  using limit = deadline(observed, 500);
  await clock.advance(row.endsAfter - 1);
  expect(limit.expired).toBe(false);
  await clock.advance(1);
  expect(limit.expired).toBe(true);
});

test('a deadline passes an outer abort on and has not expired by it', () => {
  const stop = new AbortController();
  using limit = deadline(new FakeClock(), 500, stop.signal);
  stop.abort(new Error('shutdown'));
  expect(limit.signal.reason).toMatchObject({ message: 'shutdown' });
  expect(limit.expired).toBe(false);
});

test('a deadline under a signal that is aborted already is aborted too', () => {
  using limit = deadline(new FakeClock(), 500, AbortSignal.abort(new Error('shutdown')));
  expect(limit.signal.reason).toMatchObject({ message: 'shutdown' });
});

test('a deadline whose outer one expired has not expired itself, the outer one has', async () => {
  const clock = new FakeClock();
  using outer = deadline(clock, 100);
  using inner = deadline(clock, 500, outer.signal);
  await clock.advance(100);
  expect([outer.expired, inner.expired, inner.signal.aborted]).toEqual([true, false, true]);
});

test('a deadline that expired stays expired when the outer signal is aborted later', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  using limit = deadline(clock, 100, stop.signal);
  await clock.advance(100);
  stop.abort(new Error('shutdown'));
  expect(limit.expired).toBe(true);
});

test('a deadline that was disposed never aborts and holds no timer', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const limit = deadline(clock, 500, stop.signal);
  limit[Symbol.dispose]();
  expect(clock.pending).toBe(0);
  await clock.advance(1_000);
  stop.abort();
  expect(limit.signal.aborted).toBe(false);
});

test('orAbort settles as its promise does', async () => {
  await expect(orAbort(Promise.resolve(7), never)).resolves.toBe(7);
  await expect(orAbort(Promise.reject(new Error('broken')), never)).rejects.toThrow('broken');
});

test('orAbort rejects with the reason when the signal is first', async () => {
  const stop = new AbortController();
  const waiting = orAbort(new Promise(() => {}), stop.signal);
  stop.abort(new Error('shutdown'));
  await expect(waiting).rejects.toThrow('shutdown');
});

test('orAbort under a signal that is aborted already rejects at once', async () => {
  const result = orAbort(Promise.resolve(7), AbortSignal.abort(new Error('shutdown')));
  await expect(result).rejects.toThrow('shutdown');
});

test("a promise that fails after the abort is nobody else's trouble", async () => {
  const stop = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = orAbort(promise, stop.signal);
  stop.abort(new Error('shutdown'));
  await expect(waiting).rejects.toThrow('shutdown');
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  reject(new Error('late'));
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test("a promise that fails under a signal that is aborted already is nobody else's trouble", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const broken = orAbort(Promise.reject(new Error('late')), AbortSignal.abort(new Error('shutdown')));
  await expect(broken).rejects.toThrow('shutdown');
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('the clock of the machine tells wall time, spans and when a time has passed', async () => {
  const before = systemClock.elapsed();
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000);
  await sleep(systemClock, 5, never);
  expect(systemClock.elapsed() - before).toBeGreaterThan(3);
});

test('a timer of the machine that was disposed never fires', async () => {
  let fired = false;
  systemClock.after(0, () => (fired = true))[Symbol.dispose]();
  await sleep(systemClock, 5, never);
  expect(fired).toBe(false);
});

test('a timer of the machine beyond what Node can count does not fire at once', async () => {
  let fired = false;
  using _ = systemClock.after(2 ** 40, () => (fired = true));
  await sleep(systemClock, 5, never);
  expect(fired).toBe(false);
});

test('the elapsed time is the same in all threads, so that they can wake at the same moments', async () => {
  const clock = new URL('../../../src/kernel/clock.ts', import.meta.url).href;
  const source = `import(${JSON.stringify(clock)}).then(({ systemClock }) => {
    require('node:worker_threads').parentPort.postMessage(systemClock.elapsed());
  });`;
  const before = systemClock.elapsed();
  const [during] = (await once(new Worker(source, { eval: true }), 'message')) as [number];
  expect(during).toBeGreaterThan(before);
  expect(during).toBeLessThan(systemClock.elapsed());
});
