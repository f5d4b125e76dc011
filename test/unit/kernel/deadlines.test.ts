import { MessageChannel } from 'node:worker_threads';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeadlineError, systemClock } from '#kernel/clock.ts';
import { createDeadlines } from '#kernel/deadlines.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const never = new AbortController().signal;

function holdUp(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a deadline lets what arrived be read first where this thread was held up', async () => {
  const { port1, port2 } = new MessageChannel();
  using limit = createDeadlines(systemClock).begin(20, never);
  const answer = new Promise((resolve) => {
    port1.on('message', resolve);
    limit.signal.addEventListener('abort', () => resolve('expired'), { once: true });
  });
  await new Promise((resolve) => setImmediate(resolve));
  port2.postMessage('the answer');
  holdUp(200);
  expect(await answer).toBe('the answer');
  expect(limit.expired).toBe(false);
  port1.close();
});

test('a deadline ends in time where nothing was held up, and in the end anyway', async () => {
  const clock = new FakeClock();
  using punctual = createDeadlines(clock).begin(500, never);
  await clock.advance(500);
  expect(punctual.expired).toBe(true);
  using late = createDeadlines(systemClock).begin(20, never);
  const aborted = new Promise((resolve) => late.signal.addEventListener('abort', resolve, { once: true }));
  holdUp(200);
  await aborted;
  expect(late.expired).toBe(true);
});

test('many deadlines end each in its own time, whatever ended before, with one timer for those of one length', async () => {
  const begun = fc.record({
    pauseMs: fc.integer({ min: 0, max: 30 }),
    ms: fc.constantFrom(20, 50),
    // Never in the very moment in which it ends.
    disposedAfterMs: fc.option(fc.integer({ min: 0, max: 40 }).map((half) => 2 * half + 1)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(begun, { minLength: 1, maxLength: 20 }), async (all) => {
      const clock = new FakeClock();
      const deadlines = createDeadlines(clock);
      const stop = new AbortController();
      const seen: { readonly endsAt: number; abortedAt: number | null; readonly isDisposed: boolean }[] = [];
      for (const { pauseMs, ms, disposedAfterMs } of all) {
        await clock.advance(pauseMs);
        const limit = deadlines.begin(ms, stop.signal);
        const isDisposed = disposedAfterMs !== null && disposedAfterMs < ms;
        const one = { endsAt: clock.elapsed() + ms, abortedAt: null as number | null, isDisposed };
        seen.push(one);
        limit.signal.addEventListener('abort', () => (one.abortedAt = clock.elapsed()));
        if (disposedAfterMs !== null) clock.after(disposedAfterMs, () => limit[Symbol.dispose]());
      }
      const disposals = all.filter(({ disposedAfterMs }) => disposedAfterMs !== null).length;
      expect(clock.pending).toBeLessThanOrEqual(2 + disposals);
      await clock.advance(200);
      for (const { endsAt, abortedAt, isDisposed } of seen) expect(abortedAt).toBe(isDisposed ? null : endsAt);
      expect(clock.pending).toBe(0);
    }),
  );
});

test('the outer signal ends them all at once, those included that begin after it', () => {
  const deadlines = createDeadlines(new FakeClock());
  const stop = new AbortController();
  const before = [deadlines.begin(10, stop.signal), deadlines.begin(20, stop.signal)];
  const other = deadlines.begin(10, never);
  const reason = new Error('stopping');
  stop.abort(reason);
  const after = deadlines.begin(10, stop.signal);
  for (const { signal, expired } of [...before, after]) {
    expect(signal.reason).toBe(reason);
    expect(expired).toBe(false);
  }
  expect(other.signal.aborted).toBe(false);
});

test('one that is over says so, and leaves neither timer nor listener behind when it is disposed', async () => {
  const clock = new FakeClock();
  const deadlines = createDeadlines(clock);
  const stop = new AbortController();
  const over = deadlines.begin(10, stop.signal);
  await clock.advance(10);
  expect(over.signal.reason).toBeInstanceOf(DeadlineError);
  expect(over.expired).toBe(true);
  over[Symbol.dispose]();
  const ended = deadlines.begin(10, stop.signal);
  ended[Symbol.dispose]();
  expect(clock.pending).toBe(0);
  stop.abort(new Error('stopping'));
  expect(ended.signal.aborted).toBe(false);
});
