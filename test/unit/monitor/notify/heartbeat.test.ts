import { expect, test } from 'vitest';
import { type HeartbeatOptions, startHeartbeat } from '#monitor/notify/heartbeat.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLog } from '../../../support/memory-log.ts';

const minute = 60_000;

function open(changes: Partial<HeartbeatOptions> = {}) {
  const clock = new FakeClock();
  const logged = memoryLog();
  const calls: number[] = [];
  const state = { troubles: [] as readonly string[] };
  const heartbeat = startHeartbeat({
    clock,
    log: logged.log,
    everyMs: minute,
    troubles: () => state.troubles,
    call: async () => void calls.push(clock.now()),
    ...changes,
  });
  return { clock, logged, calls, state, heartbeat };
}

test('calls as often as asked while everything works', async () => {
  const { clock, calls, heartbeat } = open();
  await clock.advance(5 * minute);
  expect(calls.length).toBe(6);
  await heartbeat.stop();
  expect(clock.pending).toBe(0);
});

test('is silent while something does not work, says so once, and goes on afterwards', async () => {
  const { clock, calls, state, logged, heartbeat } = open();
  await clock.advance(minute);
  state.troubles = ['no progress: store'];
  await clock.advance(10 * minute);
  expect(calls).toHaveLength(2);
  state.troubles = [];
  await clock.advance(minute);
  expect(calls).toHaveLength(3);
  expect(logged.lines.map(({ msg }) => msg)).toEqual(['no heartbeat: no progress: store', 'heartbeat sent again']);
  await heartbeat.stop();
});

test('is silent where nobody can say whether everything works', async () => {
  const calls: number[] = [];
  const { clock, heartbeat } = open({
    troubles() {
      throw new Error('the database is gone');
    },
    call: async () => void calls.push(1),
  });
  await clock.advance(minute);
  expect(calls).toEqual([]);
  await heartbeat.stop();
});

test('goes on after a call that failed, and gives up one that hangs', async () => {
  let count = 0;
  const { clock, logged, heartbeat } = open({
    call: async (signal) => {
      count += 1;
      if (count === 1) throw new Error('it answered with status 500');
      if (count === 2) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  await clock.advance(3 * minute);
  expect(count).toBe(3);
  expect(logged.lines.map(({ msg }) => msg)).toEqual([
    'cannot send the heartbeat: it answered with status 500',
    'cannot send the heartbeat: no answer within 30000 ms',
    'heartbeat sent again',
  ]);
  await heartbeat.stop();
});

test('stops in the middle of a call', async () => {
  const { clock, heartbeat } = open({
    call: async (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  await clock.advance(0);
  await heartbeat.stop();
  expect(clock.pending).toBe(0);
});
