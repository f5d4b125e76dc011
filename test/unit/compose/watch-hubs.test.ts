import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { watchHubs } from '#compose/hubs/watch-hubs.ts';
import type { HubStatus } from '#hubs/peers.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

// It is asked by what stands in for it.
const connection = () => ({}) as NatsConnection;

const hub = (name: string, more: Partial<HubStatus> = {}): HubStatus => ({
  name,
  version: '1.0.0',
  role: 'follower',
  since: 0,
  epoch: 1,
  leader: null,
  applied: { sequence: 1, epoch: 1, n: 1 },
  fingerprint: 'x',
  trouble: null,
  ...more,
});

test('that no hub leads is an error in the log after a minute, once, and so is its end', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { log, lines } = memoryLog();
  const hubs = [hub('a'), hub('b')];
  using _watch = watchHubs({ connection, ask: async () => hubs, own: () => hub('b'), clock, log });
  await clock.advance(75_000);
  expect(lines).toEqual([]);
  await clock.advance(120_000);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'no hub leads as far as this one can see: nothing is judged or notified',
  ]);
  hubs[0] = hub('a', { role: 'leader' });
  await clock.advance(40_000);
  expect(lines.map(({ msg }) => msg).slice(1)).toEqual(['a hub leads again']);
});

test('a leader names hubs that differ, at each change', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { log, lines } = memoryLog();
  const own = hub('a', { role: 'leader' });
  let others = [hub('b', { fingerprint: 'y' })];
  using _watch = watchHubs({ connection, ask: async () => [own, ...others], own: () => own, clock, log });
  await clock.advance(60_000);
  expect(lines).toMatchObject([{ msg: 'other hubs have another configuration', hubs: ['b'] }]);
  others = [hub('b', { version: '1.1.0' })];
  await clock.advance(60_000);
  expect(lines.slice(1)).toMatchObject([{ msg: 'other hubs have another version', hubs: ['b 1.1.0'] }]);
  others = [hub('b')];
  await clock.advance(60_000);
  expect(lines).toHaveLength(2);
});
