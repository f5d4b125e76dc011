import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { watchOurselves } from '#compose/ourselves.ts';
import type { Target } from '#monitor/judge/target.ts';
import { startMonitor } from '#monitor/monitor.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { createUnstored } from '#monitor/notify/unstored.ts';
import { watchByRuns } from '#monitor/watch/by-runs.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { accepted, RecordingChannel, refusedForNow } from '../../support/recording-channel.ts';
import { rule, target } from '../../support/scenario.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { leaveBehind, openAt, tempFolder } from '../../support/store.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

// The whole monitor on a real database that is locked now and then, as a full disk would, while targets and a mail server come and go.
// A while after it can write again it is killed, and goes on with what is stored.

const second = 1_000;
const names = ['a', 'b', 'c', 'd'];
const policy: DeliveryPolicy = {
  grouping: { waitMs: 500, intervalMs: second },
  storm: { messages: 10_000, perMs: 60 * second },
  remindMs: [],
  zone: 'UTC',
};
const targets: readonly Target[] = names.map((name) =>
  target(name, {
    schedule: { kind: 'every', everyMs: second },
    rules: [rule('down', { rounds: 1, recover: 1, confirm: false })],
  }),
);

interface World {
  readonly clock: FakeClock;
  readonly random: ReturnType<typeof seededRandom>;
  readonly up: Set<string>;
  /** Ids of the mails that the server took, whether it said so or not. */
  readonly taken: Set<string>;
  isMailUp: boolean;
  /** Mails to a process that was killed get nowhere. */
  running: string;
}

function launch(world: World, path: string) {
  const { clock, random } = world;
  const { log } = memoryLog();
  const store = openAt(path, clock);
  const email = new RecordingChannel();
  const pass = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    clock.after(Math.round(random.next() * 300), resolve);
    await promise;
    if (world.running !== path) await new Promise(() => {});
  };
  email.answer = async ({ message }) => {
    await pass();
    const fate = random.next();
    if (!world.isMailUp || fate < 0.1) return refusedForNow;
    world.taken.add(message.id);
    await pass();
    if (fate > 0.3) return accepted;
    return { kind: 'retry', reason: 'connection closed', isUncertain: true, atLeastMs: 900 * second };
  };
  const unstored = createUnstored({ store, log });
  const outbox = createOutbox({
    store: unstored,
    channels: [email],
    clock,
    random,
    log,
    policyOf: () => policy,
    linkTo: () => null,
    identity: 'here',
  });
  const asked = {
    nodes: () => [nodeInfo('de1')],
    run: async ({ round }: { readonly round?: { readonly target: string } | undefined }) => ({
      votes: [{ node: nodeInfo('de1'), outcome: world.up.has(round?.target ?? '') ? up() : down() }],
      reportUrl: null,
    }),
  };
  const monitor = startMonitor(
    { targets, maintenance: [] },
    {
      runner: watchByRuns(asked, clock, log),
      store,
      clock,
      log,
      events: { roundAwaited() {}, roundSkipped() {}, roundDone() {}, recorded() {}, unwatched() {} },
      wakeOutbox: () => outbox.wake(),
      onUnstored: (record) => unstored.add(record),
    },
  );
  watchOurselves(path, {
    store,
    checking: { hub: () => null, overload: () => null, overloadedNodes: () => [] },
    monitor,
    hubs: null,
    clock,
  });
  outbox.start();
  return store;
}

/** Targets and the mail server come and go. */
async function live(world: World, ms: number): Promise<void> {
  const { clock, random, up: alive } = world;
  for (let passed = 0; passed < ms;) {
    const step = Math.round(150 + random.next() * 500);
    await clock.advance(step);
    passed += step;
    const name = names[Math.floor(random.next() * names.length)] ?? '';
    if (!alive.delete(name)) alive.add(name);
    if (random.next() < 0.3) world.isMailUp = !world.isMailUp;
  }
}

test.each([1, 2, 3, 4, 5, 6])(
  'every mail that was taken is known by a delivery after a kill (seed %i)',
  { timeout: 60_000 },
  async (seed) => {
    using folder = tempFolder();
    const [path, copy] = [join(folder.path, 'one.db'), join(folder.path, 'two.db')];
    const world: World = {
      clock: new FakeClock(),
      random: seededRandom(seed),
      up: new Set(names),
      taken: new Set(),
      isMailUp: true,
      running: path,
    };
    launch(world, path);
    await world.clock.advance(5 * second);
    for (let times = 0; times < 3; times += 1) {
      const holder = new Database(path);
      holder.exec('BEGIN IMMEDIATE');
      await live(world, world.random.next() * 14 * second);
      holder.close();
      await live(world, world.random.next() * 7 * second);
    }
    await live(world, 12 * second);

    world.running = copy;
    leaveBehind(path, copy);
    for (const name of names) world.up.add(name);
    world.isMailUp = true;
    const store = launch(world, copy);
    await world.clock.advance(30 * second);
    const named = new Set(store.listDeliveries({ limit: 10_000 }).map(({ message }) => message));
    expect(world.taken.size).toBeGreaterThan(2);
    expect([...world.taken].filter((id) => !named.has(id))).toEqual([]);
  },
);
