import { afterEach, expect, test } from 'vitest';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import { sleep } from '#kernel/clock.ts';
import type { NodeCheckCommand, LocalTarget } from '#node/ports.ts';
import { type TargetScheduler, watchTargets } from '#node/watching.ts';
import type { Observation, PassedChecks } from '#protocol/watching.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { down, up } from '../../support/votes.ts';

const minute = 60_000;

function target(name: string, changes: Partial<LocalTarget> = {}): LocalTarget {
  return {
    name,
    revision: 'one',
    spec: CheckSpec.parse({ type: 'tcp', host: `${name}.example.com:443` }),
    schedule: { kind: 'every', everyMs: minute },
    policy: 'private',
    deadlineMs: 10_000,
    place: 0,
    refusal: null,
    ...changes,
  };
}

let watching: TargetScheduler | null = null;
afterEach(() => watching?.[Symbol.dispose]());

function watch(clock: FakeClock, look: (host: string) => Outcome = () => up(), takesMs = 0) {
  const batches: {
    at: number;
    observations: readonly Observation[];
    isNews: boolean;
    passed: PassedChecks | null;
  }[] = [];
  const busy: [number, boolean][] = [];
  const commands: NodeCheckCommand[] = [];
  let aheadMs = 0;
  const watched = watchTargets({
    agent: {
      async run(command, signal, listener) {
        commands.push(command);
        listener?.onStarted?.(clock.now());
        if (takesMs > 0) await sleep(clock, takesMs, signal);
        return look(command.spec.host);
      },
    },
    clock,
    aheadMs: () => aheadMs,
    send: (observations, isNews, passed) => void batches.push({ at: clock.now(), observations, isNews, passed }),
    onBusy: (place, isBusy) => void busy.push([place, isBusy]),
  });
  watching = watched;
  const observations = () => batches.flatMap((batch) => batch.observations);
  const setAhead = (ms: number) => {
    aheadMs = ms;
    watched.retime();
  };
  return { watched, batches, observations, busy, commands, setAhead };
}

test('a check that runs goes on when only its slots are others, and nothing of it is news', async () => {
  const clock = new FakeClock();
  const { watched, observations, batches } = watch(clock, undefined, 5_000);
  const slotted = (ms: number) => [
    target('shop', { schedule: { kind: 'every', everyMs: minute, slots: { ms, since: 0, beforeMs: ms } } }),
  ];
  watched.assign(slotted(1_000));
  await clock.advance(minute);
  await clock.advance(3_000);
  const before = observations().length;
  watched.assign(slotted(10));
  await clock.advance(10 * minute - 3_000);
  expect(observations().length - before).toBeGreaterThanOrEqual(9);
  const dues = observations().map(({ dueAt }) => Math.round(dueAt / 1_000));
  expect(dues.slice(1).every((due, index) => Math.abs(due - (dues[index] ?? 0) - 60) <= 1)).toBe(true);
  // Each waited for company.
  for (const { at, observations: seen } of batches)
    for (const { startedAt } of seen) expect(at - startedAt).toBe(6_000);
});

test('what is as it was waits up to a second for company; what is new or bad goes at once, in a message of its own', async () => {
  const clock = new FakeClock();
  const downs = new Set<string>();
  const { watched, batches } = watch(clock, (host) => (downs.has(host) ? down() : up()));
  watched.assign(Array.from({ length: 600 }, (_, index) => target(`t${index}`)));
  await clock.advance(minute);
  batches.length = 0;
  await clock.advance(minute);
  expect(batches.length).toBeGreaterThan(50);
  expect(batches.length).toBeLessThanOrEqual(60);
  for (const { at, observations } of batches) {
    expect(observations.every(({ dueAt }) => at - dueAt <= 1_010)).toBe(true);
  }
  downs.add('t7.example.com:443');
  for (const round of [1, 2]) {
    const before = batches.length;
    await clock.advance(minute);
    const batch = batches
      .slice(before)
      .find(({ observations }) => observations.some(({ outcome }) => outcome.status === 'down'));
    expect(batch, `round ${round}`).toMatchObject({ isNews: true, observations: [{ target: 't7' }] });
    expect((batch?.at ?? 0) - (batch?.observations.at(-1)?.dueAt ?? 0)).toBeLessThan(20);
  }
});

test('no more than 256 wait for each other', async () => {
  const clock = new FakeClock();
  const { watched, batches } = watch(clock);
  const quick = { schedule: { kind: 'every', everyMs: 1_000 } } as const;
  watched.assign(Array.from({ length: 1_000 }, (_, index) => target(`t${index}`, quick)));
  await clock.advance(5_000);
  expect(Math.max(...batches.map(({ observations }) => observations.length))).toBe(256);
});

test('a due time that comes while the check before still runs is passed over', async () => {
  const clock = new FakeClock();
  const { watched, observations, busy } = watch(clock, () => up(), 90_000);
  watched.assign([target('shop', { place: 3 })]);
  await clock.advance(10 * minute);
  const dues = observations().map(({ dueAt }) => dueAt);
  expect(new Set(dues.slice(1).map((due, index) => due - dues[index]!))).toEqual(new Set([2 * minute]));
  expect(busy.slice(0, 2)).toEqual([
    [3, true],
    [3, false],
  ]);
});

test('an assignment disturbs nothing that stays as it is, and what was removed tells what was under way', async () => {
  const clock = new FakeClock();
  const { watched, observations } = watch(clock, () => up(), 5_000);
  watched.assign([target('shop'), target('blog')]);
  await clock.advance(minute + 5_000);
  const before = observations().length;
  const blogDue = observations().find((one) => one.target === 'blog')!.dueAt;
  await clock.advance(blogDue + 2 * minute + 1_000 - clock.now());
  watched.assign([target('shop'), target('cafe')]);
  await clock.advance(3 * minute);
  const seen = observations().slice(before);
  expect(seen.filter((one) => one.target === 'blog').at(-1)?.dueAt).toBe(blogDue + 2 * minute);
  const shop = seen.filter((one) => one.target === 'shop').map(({ dueAt }) => dueAt);
  expect(new Set(shop.slice(1).map((due, index) => due - shop[index]!))).toEqual(new Set([minute]));
  expect(seen.filter((one) => one.target === 'cafe').length).toBeGreaterThanOrEqual(2);
});

test('another revision is another target: its checks say so, and what still ran for the one before too', async () => {
  const clock = new FakeClock();
  const { watched, observations } = watch(clock, () => up(), 5_000);
  watched.assign([target('shop')]);
  await clock.advance(minute + 5_000);
  const dueAt = observations()[0]!.dueAt;
  await clock.advance(dueAt + 2 * minute + 1_000 - clock.now());
  watched.assign([target('shop', { revision: 'two' })]);
  await clock.advance(minute + 5_000);
  expect(observations().map(({ revision }) => revision)).toEqual(
    ['one', 'one', 'one', 'two'].slice(-observations().length),
  );
});

test('a node whose clock is an hour off goes by the clock of the hub, and says when by that', async () => {
  const clock = new FakeClock('2026-01-01T01:00:00Z');
  const { watched, observations, setAhead } = watch(clock);
  setAhead(60 * minute);
  const since = watched.assign([target('shop')]);
  expect(new Date(since).toISOString()).toBe('2026-01-01T00:00:00.000Z');
  await clock.advance(minute);
  const [first] = observations();
  expect((first?.dueAt ?? 0) - since).toBeLessThanOrEqual(minute);
  expect(first?.startedAt).toBe(first?.dueAt);
});

test('a check that was put aside is not run, and says why', async () => {
  const clock = new FakeClock();
  const { watched, observations } = watch(clock, () => {
    throw new Error('it was run');
  });
  watched.assign([target('shop', { refusal: 'this check is put aside for 10m' })]);
  await clock.advance(minute);
  expect(observations()[0]?.outcome).toMatchObject({
    status: 'unknown',
    failure: { source: 'node', message: 'this check is put aside for 10m' },
  });
});

test('one that is closed leaves no timer and tells what it has', async () => {
  const clock = new FakeClock();
  const { watched, batches, observations } = watch(clock);
  watched.assign([target('shop')]);
  await clock.advance(2 * minute);
  const dueAt = observations().at(-1)!.dueAt;
  await clock.advance(dueAt + minute - clock.now() + 10);
  const before = batches.length;
  watched[Symbol.dispose]();
  expect(batches).toHaveLength(before + 1);
  expect(clock.pending).toBe(0);
});

test('checks that are due together begin one by one, each as far as it comes without waiting', async () => {
  const clock = new FakeClock();
  const steps: string[] = [];
  const ended = Promise.withResolvers<void>();
  // In ten slots of a minute.
  const names = Array.from({ length: 30 }, (_, index) => `t${index}`);
  watching = watchTargets({
    agent: {
      async run({ spec: { host } }) {
        for (let step = 0; step < 3; step += 1) {
          steps.push(host);
          await Promise.resolve();
        }
        if (steps.length === 3 * names.length) ended.resolve();
        return up();
      },
    },
    clock,
    aheadMs: () => 0,
    send: () => {},
    begin: setImmediate,
  });
  const slots = { ms: minute / 10, since: 0, beforeMs: minute / 10 };
  watching.assign(names.map((name) => target(name, { schedule: { kind: 'every', everyMs: minute, slots } })));
  await clock.advance(minute);
  await ended.promise;
  const firsts = steps.filter((_, index) => index % 3 === 0);
  expect(new Set(firsts).size).toBe(names.length);
  expect(steps).toEqual(firsts.flatMap((host) => [host, host, host]));
});

test('checks that are late begin together', async () => {
  const clock = new FakeClock();
  const begun: string[] = [];
  const hosts: string[] = [];
  watching = watchTargets({
    agent: {
      async run({ spec: { host } }) {
        hosts.push(host);
        return up();
      },
    },
    clock,
    aheadMs: () => 0,
    send: () => {},
    begin(check) {
      begun.push('in time');
      check();
    },
  });
  watching.assign([target('shop')]);
  await clock.advance(minute);
  expect([begun, hosts]).toEqual([['in time'], ['shop.example.com:443']]);
  clock.hold(minute + 30_000);
  await clock.advance(0);
  expect([begun.length, hosts.length]).toEqual([1, 2]);
});

test('of which due times checks were passed over is told with the next results, once', async () => {
  const clock = new FakeClock();
  const { watched, batches } = watch(clock);
  watched.assign([target('shop')]);
  await clock.advance(minute);
  const [first = 0] = batches.flatMap(({ observations }) => observations.map(({ dueAt }) => dueAt));
  clock.hold(first + 3.5 * minute - clock.now());
  await clock.advance(2 * minute);
  expect(batches.map(({ passed }) => passed !== null)).toEqual([false, true, false]);
  const { due: { from = 0, until = 0 } = {}, checks } = batches[1]?.passed ?? {};
  // It was held up for a moment, which is no overload.
  expect(checks).toBe(0);
  expect([from - first, until >= first + 3 * minute, until < first + 4 * minute]).toEqual([minute, true, true]);
  expect(watched.skipped).toBe(3);
});

test('nobody waits for what is watched: its checks may be read together', async () => {
  const clock = new FakeClock();
  const { watched, commands } = watch(clock);
  const assigned = target('a');
  watched.assign([assigned]);
  await clock.advance(minute);
  const { spec, policy, deadlineMs } = assigned;
  expect(commands).toEqual([{ spec, policy, deadlineMs, isPatient: true }]);
});

test('slots that change hold for the next checks', async () => {
  const clock = new FakeClock();
  const { watched, observations } = watch(clock);
  const slotted = (ms: number) =>
    ['a', 'b', 'c', 'd', 'e'].map((name) =>
      target(name, { schedule: { kind: 'every', everyMs: minute, slots: { ms, since: 0, beforeMs: ms } } }),
    );
  watched.assign(slotted(100));
  await clock.advance(minute);
  expect(observations().every(({ dueAt }) => dueAt % 1_000 === 0)).toBe(false);
  const before = observations().length;
  watched.assign(slotted(1_000));
  await clock.advance(2 * minute);
  expect(observations().length).toBeGreaterThan(before);
  expect(
    observations()
      .slice(before)
      .every(({ dueAt }) => dueAt % 1_000 === 0),
  ).toBe(true);
});

test('an assignment that changes nothing repeats no due time after the clock was set back', async () => {
  const clock = new FakeClock();
  const { watched, observations } = watch(clock);
  watched.assign([target('shop')]);
  await clock.advance(10 * minute);
  clock.step(-5 * minute);
  await clock.advance(2 * minute);
  watched.assign([target('shop')]);
  await clock.advance(10 * minute);
  const dues = observations().map(({ dueAt }) => dueAt);
  expect(dues.length).toBeGreaterThanOrEqual(21);
  expect(new Set(dues).size).toBe(dues.length);
});

test('what the target said before it was changed is no measure for what is news of it', async () => {
  const clock = new FakeClock();
  let isUp = false;
  const { watched, batches } = watch(clock, () => (isUp ? up() : down()));
  watched.assign([target('a')]);
  await clock.advance(minute);
  isUp = true;
  watched.assign([target('a', { revision: 'two' })]);
  await clock.advance(minute + 1_000);
  const [, second] = batches;
  expect(second?.observations).toMatchObject([{ revision: 'two', outcome: { status: 'up' } }]);
  expect((second?.at ?? 0) - (second?.observations[0]?.startedAt ?? 0)).toBe(1_000);
});

test('the last word of a target that was changed meanwhile goes at once', async () => {
  const clock = new FakeClock();
  const { watched, batches, observations } = watch(clock, () => up(), 5_000);
  watched.assign([target('a')]);
  while (watched.skipped === 0 && observations().length === 0 && clock.pending === 1) await clock.advance(100);
  watched.assign([target('a', { revision: 'two' })]);
  await clock.advance(5_000);
  expect(batches[0]?.observations).toMatchObject([{ revision: 'one' }]);
  expect((batches[0]?.at ?? 0) - (batches[0]?.observations[0]?.startedAt ?? 0)).toBe(5_000);
});

test('on a bad day news is in few messages, each target with its results in order, and what comes after a change is news too', async () => {
  const clock = new FakeClock();
  let isDown = false;
  const { watched, batches, observations } = watch(clock, () => (isDown ? down() : up()));
  const quick = { schedule: { kind: 'every', everyMs: 1_000 } } as const;
  watched.assign(Array.from({ length: 100 }, (_, index) => target(`t${index}`, quick)));
  await clock.advance(10_500);
  expect(batches.some(({ isNews }) => isNews)).toBe(false);
  isDown = true;
  const before = batches.length;
  await clock.advance(10_000);
  const bad = batches.slice(before).filter(({ isNews }) => isNews);
  expect(bad.length).toBeLessThanOrEqual(101);
  for (const { at, observations: seen } of bad)
    for (const { outcome, dueAt } of seen) if (outcome.status === 'down') expect(at - dueAt).toBeLessThanOrEqual(110);
  isDown = false;
  const recovered = observations().length;
  await clock.advance(15_000);
  const ups = new Map<string, boolean[]>();
  for (const { isNews, observations: seen } of batches)
    for (const one of seen.filter((one) => observations().indexOf(one) >= recovered))
      ups.set(one.target, [...(ups.get(one.target) ?? []), isNews]);
  for (const isNews of ups.values()) expect(isNews.filter(Boolean).length).toBeGreaterThanOrEqual(10);
  expect([...ups.values()].every((isNews) => isNews.at(-1) === false)).toBe(true);
  for (const name of ups.keys()) {
    const dues = observations().flatMap(({ target, dueAt }) => (target === name ? dueAt : []));
    expect(dues).toEqual(dues.toSorted((a, b) => a - b));
  }
});
