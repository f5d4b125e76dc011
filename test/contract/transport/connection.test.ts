import { expect, test } from 'vitest';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { connectionTimes, keepConnected } from '#transport/nats/connection.ts';
import { makeKeyPair } from '#transport/nats/keys.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const longestMs = 12_000;

test.each([
  { draw: 0, delaysMs: [250, 500, 1_000, 2_000, 4_000, 6_000, 6_000] },
  { draw: 0.999_999, delaysMs: [500, 1_000, 2_000, 4_000, 8_000, longestMs, longestMs] },
])('retries come ever later, and never later than a hub waits for a node ($draw)', async ({ draw, delaysMs }) => {
  const delays: number[] = [];
  const { promise: triedOften, resolve } = Promise.withResolvers<void>();
  const clock: Clock = {
    ...systemClock,
    after(ms, action) {
      delays.push(Math.round(ms));
      if (delays.length < delaysMs.length) return systemClock.after(0, action);
      resolve();
      return { [Symbol.dispose]: () => {} };
    },
  };
  const link = keepConnected({
    account: {
      servers: [`nats://127.0.0.1:${await closedPort()}`],
      seed: makeKeyPair().seed,
      ca: null,
      name: 'de1',
      inbox: '_INBOX_de1',
    },
    times: connectionTimes,
    clock,
    random: { ...systemRandom, next: () => draw },
    log: memoryLog().log,
    onUp: () => {},
    onDown: () => {},
    onRefused: () => {},
  });
  await triedOften;
  await link.close();
  expect(delays).toEqual(delaysMs);
});
