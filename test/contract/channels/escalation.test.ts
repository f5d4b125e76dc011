import { expect, test } from 'vitest';
import type { Delivery } from '#monitor/judge/delivery.ts';
import { announce, resolve } from '#monitor/judge/incident-life.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { Recipient } from '#monitor/judge/recipient.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { shopDown } from '../../support/incidents.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { RecordingChannel } from '../../support/recording-channel.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { openAt, tempFolder } from '../../support/store.ts';

const minute = 60_000;
const severities = ['critical'] as const;
const recipients: readonly Recipient[] = [
  { notify: 'ops', channel: 'email', recipient: 'ops@example.com', severities },
  { notify: 'boss', channel: 'email', recipient: 'boss@example.com', severities, afterMs: 15 * minute },
];

function setUp() {
  const folder = tempFolder();
  const clock = new FakeClock(new Date(shopDown.openedAt).toISOString());
  const open = () => openAt(`${folder.path}/watchpost.db`, clock);
  let store = open();
  const channel = new RecordingChannel('email');
  const record = async (incident: Incident, deliveries: readonly Delivery[], into: Store) => {
    const recorded = into.record({
      target: 'shop',
      dueAt: clock.now(),
      votes: [],
      states: [],
      incidents: [incident],
      deliveries,
    });
    await clock.advance(1_000);
    await recorded;
  };
  /** As after a start of the program: everything pending is looked at anew. */
  async function deliver(): Promise<readonly string[]> {
    const before = channel.attempts.length;
    await store.close();
    store = open();
    const options = { store, channels: [channel], clock, random: seededRandom(), log: memoryLog().log };
    const policyOf = ({ recipient }: { readonly recipient: string }) =>
      recipient === 'boss@example.com' ? { ...alone, afterMs: 15 * minute } : alone;
    const outbox = createOutbox({ ...options, linkTo: () => null, policyOf });
    outbox.start();
    await outbox.drain(AbortSignal.timeout(20_000));
    await outbox.stop();
    return channel.attempts.slice(before).map(({ message, recipient }) => `${recipient} ${message.kind}`);
  }
  return {
    clock,
    deliver,
    counts: () => store.deliveryCounts(),
    states: () => store.listDeliveries({ limit: 10 }).map(({ state }) => state),
    record: async (incident: Incident, deliveries: readonly Delivery[] = []) => record(incident, deliveries, store),
    async [Symbol.asyncDispose]() {
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}

test('the next one is told when nobody acknowledges, over restarts, and both hear of the end', async () => {
  await using place = setUp();
  const { clock, deliver, record, counts } = place;
  const { incident, deliveries } = announce(shopDown, recipients, clock.now());
  await record(incident, deliveries);
  expect(await deliver()).toEqual(['ops@example.com opened']);
  expect(counts()).toMatchObject([{ channel: 'email', pending: 0 }]);
  clock.step(13 * minute);
  expect(await deliver()).toEqual([]);
  clock.step(2 * minute);
  expect(await deliver()).toEqual(['boss@example.com opened']);
  const end = resolve(incident, { endedAt: clock.now(), closingVotes: [] }, recipients, clock.now());
  await record(end.incident, end.deliveries);
  expect((await deliver()).toSorted()).toEqual(['boss@example.com resolved', 'ops@example.com resolved']);
});

test('the next one is not told of what is acknowledged, nor of its end', async () => {
  await using place = setUp();
  const { clock, deliver, record, states } = place;
  const { incident, deliveries } = announce(shopDown, recipients, clock.now());
  await record(incident, deliveries);
  await deliver();
  const known: Incident = { ...incident, acknowledged: { at: clock.now(), why: 'on it' } };
  await record(known);
  clock.step(20 * minute);
  expect(await deliver()).toEqual([]);
  const end = resolve(known, { endedAt: clock.now(), closingVotes: [] }, recipients, clock.now());
  await record(end.incident, end.deliveries);
  expect(await deliver()).toEqual(['ops@example.com resolved']);
  expect(states().toSorted()).toEqual(['merged', 'merged', 'sent', 'sent']);
});

test('the next one is not told of what was over soon', async () => {
  await using place = setUp();
  const { clock, deliver, record, states } = place;
  const { incident, deliveries } = announce(shopDown, recipients, clock.now());
  await record(incident, deliveries);
  await deliver();
  clock.step(5 * minute);
  const end = resolve(incident, { endedAt: clock.now(), closingVotes: [] }, recipients, clock.now());
  await record(end.incident, end.deliveries);
  expect(await deliver()).toEqual(['ops@example.com resolved']);
  clock.step(20 * minute);
  expect(await deliver()).toEqual([]);
  expect(states().toSorted()).toEqual(['merged', 'merged', 'sent', 'sent']);
});
