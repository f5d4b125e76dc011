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

function watched(own: () => HubStatus, ask: () => readonly HubStatus[], reportedSince: number | null = null) {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const { log, lines } = memoryLog();
  const notices: (string | null)[] = [];
  const leaderless = (reason: string | null) => void notices.push(reason);
  const options = {
    connection,
    ask: async () => ask(),
    own,
    notifyAfterMs: 600_000,
    leaderless,
    reportedSince,
    clock,
    log,
  };
  return { clock, lines, notices, watch: watchHubs(options) };
}

const messages = (lines: readonly { readonly msg?: unknown }[]) => lines.map(({ msg }) => msg);

test('that no hub leads is logged after a minute, once, and so is its end', async () => {
  const hubs = [hub('a'), hub('b')];
  const { clock, lines, watch, notices } = watched(
    () => hub('b'),
    () => hubs,
  );
  using _ = watch;
  await clock.advance(75_000);
  expect(lines).toEqual([]);
  await clock.advance(120_000);
  expect(messages(lines)).toEqual(['no hub leads as far as this one can see: nothing is judged or notified']);
  expect(watch.view()).toMatchObject({ leader: null, leaderlessMs: expect.any(Number) });
  expect(watch.view().leaderlessMs).toBeGreaterThan(60_000);
  hubs[0] = hub('a', { role: 'leader' });
  await clock.advance(40_000);
  expect(messages(lines).slice(1)).toEqual(['a hub leads again']);
  expect(watch.view()).toMatchObject({ leader: { name: 'a' }, leaderlessMs: null });
  expect(notices).toEqual([]);
});

test('of hubs that reach each other the first one notifies that none leads, and of its end', async () => {
  let others = [hub('b')];
  const { clock, notices, watch } = watched(
    () => hub('a', { trouble: 'a newer version wrote' }),
    () => others,
  );
  using _ = watch;
  await clock.advance(300_000);
  expect(notices).toEqual(['a newer version wrote']);
  others = [hub('b', { role: 'leader' })];
  await clock.advance(60_000);
  expect(notices).toEqual(['a newer version wrote', null]);
});

test('what was notified before a restart is not notified again, and its end is', async () => {
  let others: readonly HubStatus[] = [];
  const { clock, notices, watch } = watched(
    () => hub('a'),
    () => others,
    Date.parse('2025-12-31T23:50:00Z'),
  );
  using _ = watch;
  await clock.advance(300_000);
  expect(notices).toEqual([]);
  others = [hub('b', { role: 'leader' })];
  await clock.advance(60_000);
  expect(notices).toEqual([null]);
});

test('a hub that reaches no other one notifies by itself, whatever its name', async () => {
  let others = [hub('a')];
  const { clock, notices, watch } = watched(
    () => hub('b'),
    () => others,
  );
  using _ = watch;
  await clock.advance(300_000);
  expect(notices).toEqual([]);
  others = [];
  await clock.advance(40_000);
  expect(notices).toHaveLength(1);
});

test('a leader names hubs that differ, are behind or do not answer, at each change', async () => {
  const own = hub('a', { role: 'leader' });
  let others = [hub('b', { fingerprint: 'y' })];
  const { clock, lines, watch } = watched(
    () => own,
    () => [own, ...others],
  );
  using _ = watch;
  await clock.advance(60_000);
  expect(lines).toMatchObject([
    { msg: 'other hubs are degraded', hubs: { b: 'its configuration differs from that of a' } },
  ]);
  others = [hub('b'), hub('c', { version: '1.1.0' })];
  await clock.advance(60_000);
  expect(lines.slice(1)).toMatchObject([{ hubs: { c: 'its version differs from that of a' } }]);
  others = [hub('c')];
  await clock.advance(60_000);
  expect(lines.slice(2)).toMatchObject([{ hubs: { b: 'it does not answer' } }]);
  expect(watch.troubles.names()).toEqual(['a', 'b', 'c']);
  others = [hub('b'), hub('c')];
  await clock.advance(60_000);
  expect(messages(lines.slice(3))).toEqual(['the other hubs are healthy']);
});

test('that NATS is away says nothing about other hubs, and one that is gone for two days is forgotten', async () => {
  const own = hub('a', { role: 'leader' });
  let answers = [own, hub('b')];
  const { clock, watch } = watched(
    () => own,
    () => answers,
  );
  using _ = watch;
  await clock.advance(60_000);
  answers = [];
  await clock.advance(60_000);
  expect(watch.troubles.reasonOf('b')).toBeNull();
  answers = [own];
  await clock.advance(60_000);
  expect(watch.troubles.reasonOf('b')).toBe('it does not answer');
  await clock.advance(2 * 86_400_000);
  expect(watch.troubles.names()).toEqual(['a']);
});

test('a hub that leads alone although NATS answers says so of itself, sooner than of others', async () => {
  let own = hub('a', { role: 'leader' });
  const { clock, watch } = watched(
    () => own,
    () => [own],
  );
  using _ = watch;
  await clock.advance(60_000);
  expect(watch.troubles.reasonOf('a')).toBeNull();
  own = hub('a', { role: 'alone', trouble: 'no quorum' });
  expect(watch.troubles.reasonOf('a')).toBe('it leads alone, because the log takes no writes: no quorum');
  expect(watch.troubles.afterMs('a')).toBeLessThan(watch.troubles.afterMs('b'));
});
