import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import type { StopGuard } from '#kernel/stop-watch.ts';
import type { AgentOptions } from '#node/ports.ts';
import type { AssignedTarget, Observation, PassedChecks } from '#protocol/watching.ts';
import { createThreadTransport, type ThreadTransport } from '#transport/thread.ts';
import { tcpCommand } from '../../support/node-command.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/program.ts';
import { agentOptions, misbehavingModule, realModule } from '../../support/thread-nodes.ts';
import { nodeInfo } from '../../support/votes.ts';

const log = pino({ level: 'silent' });
const never = new AbortController().signal;

interface Bad {
  readonly transport: ThreadTransport;
  /** Starts of the thread, aborts and commands that it heard, and what it said or waits for. */
  readonly counts: Int32Array;
}

function misbehaving(clock = systemClock, extra: object = {}, guard: StopGuard | null = null): Bad {
  const shared = new SharedArrayBuffer(16);
  const node = { info: nodeInfo('de1'), options: { ...agentOptions, ...extra, starts: shared } as AgentOptions };
  return {
    transport: createThreadTransport({ nodes: [node], module: misbehavingModule, guard, clock, log }),
    counts: new Int32Array(shared),
  };
}

const until = async (condition: () => boolean) => eventually(30_000, () => expect(condition()).toBe(true));

test.each([
  { host: 'dies:1', why: 'ended with code 7' },
  { host: 'throws:1', why: 'a bug in the node' },
])('a thread that $host ends its checks as node faults and is started again', async ({ host, why }) => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  expect(await transport.run('de1', tcpCommand('fine:1'), never)).toMatchObject({ status: 'up' });
  const silent = transport.run('de1', tcpCommand('is-silent:1'), never);
  const outcome = await transport.run('de1', tcpCommand(host), never);
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'gone' } });
  expect(outcome).toHaveProperty('failure.message', expect.stringContaining(why));
  expect(await silent).toMatchObject({ status: 'unknown', failure: { code: 'gone' } });
  expect(transport.nodes()[0]).toMatchObject({ online: false });
  await clock.advance(1_000);
  await until(() => Atomics.load(counts, 0) === 2 && transport.nodes()[0]?.online === true);
  expect(await transport.run('de1', tcpCommand('fine:1'), never)).toMatchObject({ status: 'up' });
  await transport.close();
});

test('a thread that says nothing any more is ended and started again', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  await until(() => transport.nodes()[0]?.online === true);
  const silent = transport.run('de1', tcpCommand('is-silent:1'), never);
  await clock.advance(15_000);
  expect(await silent).toMatchObject({ status: 'unknown', failure: { code: 'gone' } });
  await clock.advance(1_000);
  await until(() => Atomics.load(counts, 0) === 2);
  await until(() => transport.nodes()[0]?.online === true);
  await transport.close();
});

describe('a thread guards the stop of the process', () => {
  const counted = () => {
    const guards = { now: 0, ever: 0 };
    const relieve = () => {
      guards.now += 1;
      guards.ever += 1;
      return { [Symbol.dispose]: () => void (guards.now -= 1) };
    };
    return { guards, guard: { shared: new SharedArrayBuffer(8), relieve } };
  };

  test.each(['dies:1', 'is-silent:1'])(
    'until it is lost (%s), again once it is back, and until it is closed',
    async (host) => {
      const clock = new FakeClock();
      const { guards, guard } = counted();
      const { transport } = misbehaving(clock, {}, guard);
      await until(() => guards.now === 1);
      const gone = transport.run('de1', tcpCommand(host), never);
      if (host === 'is-silent:1') await clock.advance(15_000);
      expect(await gone).toMatchObject({ failure: { code: 'gone' } });
      expect(guards).toEqual({ now: 0, ever: 1 });
      await clock.advance(1_000);
      await until(() => guards.now === 1);
      const closed = transport.close();
      expect(guards).toEqual({ now: 0, ever: 2 });
      await closed;
    },
  );

  test('unless its node has plugins', async () => {
    const { guards, guard } = counted();
    const { transport } = misbehaving(systemClock, { plugins: { any: ['/bin/true'] } }, guard);
    await until(() => transport.nodes()[0]?.online === true);
    expect(guards).toEqual({ now: 0, ever: 0 });
    await transport.close();
  });
});

test('a check that was under way at two losses is put aside and said to be the cause; others go on', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  const back = async (starts: number) =>
    until(() => Atomics.load(counts, 0) === starts && transport.nodes()[0]?.online === true);
  await back(1);
  const innocent = transport.run('de1', tcpCommand('is-silent:1'), never);
  await transport.run('de1', tcpCommand('dies:1'), never);
  expect(await innocent).toMatchObject({ failure: { code: 'gone' } });
  await clock.advance(1_000);
  await back(2);
  // What ends properly between the two losses is not suspected, though it was under way at both.
  const often = transport.run('de1', tcpCommand('answers-later:1'), never);
  await transport.run('de1', tcpCommand('fine:1'), never);
  await often;
  const again = transport.run('de1', tcpCommand('answers-later:1'), never);
  expect(await transport.run('de1', tcpCommand('dies:1'), never)).toMatchObject({ failure: { code: 'gone' } });
  await again;
  await clock.advance(2_000);
  await back(3);
  expect(await transport.run('de1', tcpCommand('dies:1'), never)).toMatchObject({
    status: 'unknown',
    failure: {
      source: 'node',
      code: 'internal',
      message: expect.stringMatching(/^this check is put aside for .*: the node was lost 2 times while it ran$/),
    },
  });
  expect(await transport.run('de1', tcpCommand('answers-later:1'), never)).toMatchObject({ status: 'up' });
  expect(Atomics.load(counts, 0)).toBe(3);
  await clock.advance(600_000);
  expect(await transport.run('de1', tcpCommand('dies:1'), never)).toMatchObject({ failure: { code: 'gone' } });
  await transport.close();
});

test('a check that was given up before the thread was found out to be silent is suspected all the same', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  for (const starts of [1, 2]) {
    await until(() => Atomics.load(counts, 0) === starts && transport.nodes()[0]?.online === true);
    const controller = new AbortController();
    const given = transport.run('de1', tcpCommand('is-silent:1'), controller.signal);
    controller.abort(new Error('nobody waits'));
    await expect(given).rejects.toThrow('nobody waits');
    await clock.advance(15_000);
    await clock.advance(2_000);
  }
  await until(() => Atomics.load(counts, 0) === 3 && transport.nodes()[0]?.online === true);
  expect(await transport.run('de1', tcpCommand('is-silent:1'), never)).toMatchObject({
    failure: { message: expect.stringContaining('put aside') },
  });
  await transport.close();
});

test('an answer given twice counts once', async () => {
  const { transport } = misbehaving();
  expect(await transport.run('de1', tcpCommand('answers-twice:1'), never)).toMatchObject({ seconds: 0.001 });
  expect(await transport.run('de1', tcpCommand('fine:1'), never)).toMatchObject({ seconds: 0.001 });
  await transport.close();
});

test('a thread that does not close is ended', async () => {
  const clock = new FakeClock();
  const { transport } = misbehaving(clock, { hangsAtClose: true });
  await until(() => transport.nodes()[0]?.online === true);
  const closed = transport.close();
  await clock.advance(3_000);
  await closed;
  expect(transport.nodes()[0]).toMatchObject({ online: false });
});

test('a thread is not ended for being slow to start, and its checks wait for it', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock, { startsSlowly: true });
  await until(() => Atomics.load(counts, 0) === 1);
  expect(transport.nodes()[0]).toMatchObject({ online: false, starting: true, reason: 'starting' });
  await clock.advance(120_000);
  const outcome = transport.run('de1', tcpCommand('fine:1'), never);
  Atomics.store(counts, 3, 1);
  Atomics.notify(counts, 3);
  expect(await outcome).toMatchObject({ status: 'up' });
  await transport.started;
  expect(Atomics.load(counts, 0)).toBe(1);
  await transport.close();
});

test('a thread that never starts is started again after five minutes', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock, { startsSlowly: true });
  await until(() => Atomics.load(counts, 0) === 1);
  await clock.advance(300_000);
  await transport.started;
  expect(transport.nodes()[0]).toMatchObject({
    online: false,
    starting: false,
    reason: 'it did not start within 300 s',
  });
  await clock.advance(1_000);
  await until(() => Atomics.load(counts, 0) === 2);
  Atomics.store(counts, 3, 1);
  Atomics.notify(counts, 3);
  await until(() => transport.nodes()[0]?.online === true);
  await transport.close();
});

/** A clock whose loop was held up: timers that were due meanwhile come all at once, before anything is read. */
class HeldUpClock extends FakeClock {
  readonly #timers = new Set<{ readonly at: number; readonly action: () => void }>();
  #elapsedMs = 0;

  override elapsed(): number {
    return this.#elapsedMs;
  }

  override after(ms: number, action: () => void): Disposable {
    const timer = { at: this.#elapsedMs + ms, action };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  holdUp(ms: number): void {
    this.#elapsedMs += ms;
    for (const timer of this.#timers) if (timer.at <= this.#elapsedMs && this.#timers.delete(timer)) timer.action();
  }
}

test('a thread is not silent because we ourselves were held up: what it said meanwhile is read first', async () => {
  const clock = new HeldUpClock();
  const { transport, counts } = misbehaving(clock, { chats: true });
  await until(() => transport.nodes()[0]?.online === true);
  for (let stall = 0; stall < 8; stall += 1) {
    const said = Atomics.load(counts, 3);
    Atomics.wait(counts, 3, said);
    clock.holdUp(60_000);
    expect(transport.nodes()[0]).toMatchObject({ online: true });
    // Only now is there a turn of the loop in which to read.
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await transport.run('de1', tcpCommand('fine:1'), never)).toMatchObject({ status: 'up' });
  expect(Atomics.load(counts, 0)).toBe(1);
  await transport.close();
});

test('a check tells when it began in the thread', async () => {
  const nodes = [{ info: nodeInfo('de1'), options: agentOptions }];
  const transport = createThreadTransport({ nodes, module: realModule, clock: systemClock, log });
  const starts: number[] = [];
  const before = Date.now();
  await transport.run('de1', tcpCommand('127.0.0.1:9'), never, { onStarted: (at) => void starts.push(at) });
  expect(starts).toHaveLength(1);
  expect(starts[0]).toBeGreaterThanOrEqual(before);
  expect(starts[0]).toBeLessThanOrEqual(Date.now());
  await transport.close();
});

function listenTo(transport: ThreadTransport) {
  const since: number[] = [];
  const observations: Observation[] = [];
  const passed: PassedChecks[] = [];
  transport.listen({
    passedOver: (_, checks) => void passed.push(checks),
    watching: (_, __, moment) => void since.push(moment),
    seen: (_, seen) => void observations.push(...seen),
  });
  return { since, observations, passed };
}

const assigned = (name: string, host: string, everyMs = 1_000): AssignedTarget => ({
  name,
  revision: 'one',
  schedule: { kind: 'every', everyMs },
  ...tcpCommand(host),
});

test('a thread watches what it is assigned by itself, before it has started, and again after it was lost', async () => {
  const transport = createThreadTransport({
    nodes: [{ info: nodeInfo('de1'), options: agentOptions }],
    module: realModule,
    clock: systemClock,
    log,
  });
  const { since, observations } = listenTo(transport);
  const assignedAt = systemClock.now();
  transport.assign('de1', { number: 1, targets: [assigned('shop', '127.0.0.1:1')] });
  await eventually(30_000, () => expect(observations.length).toBeGreaterThanOrEqual(2));
  expect(since).toHaveLength(1);
  expect(observations[0]).toMatchObject({ target: 'shop', revision: 'one', outcome: { status: 'down' } });
  // It may be due while the thread still takes in what it is to watch: `since` says from when on nothing is left out.
  expect(observations[0]!.dueAt).toBeGreaterThan(assignedAt);
  expect(observations[0]!.startedAt).toBeGreaterThanOrEqual(observations[0]!.dueAt);
  expect((observations[1]!.dueAt - observations[0]!.dueAt) % 1_000).toBe(0);
  await transport.close();
});

test('a watched check that was under way at two losses is put aside on every thread; the others go on', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  const { since, observations, passed } = listenTo(transport);
  const targets = [assigned('bad', 'dies:1'), assigned('good', 'fine:1')];
  await until(() => transport.nodes()[0]?.online === true);
  transport.assign('de1', { number: 1, targets });
  for (const starts of [2, 3]) {
    await until(() => transport.nodes()[0]?.online === false);
    await clock.advance(30_000);
    await until(() => Atomics.load(counts, 0) === starts);
  }
  await until(() => observations.length === 2);
  expect(observations.map(({ target, outcome }) => [target, outcome.status])).toEqual([
    ['bad', 'unknown'],
    ['good', 'up'],
  ]);
  expect(observations[0]?.outcome).toHaveProperty('failure.message', expect.stringContaining('put aside'));
  expect(since).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0]);
  expect(passed).toEqual([{ checks: 3, due: { from: 1, until: 2 } }]);
  await transport.close();
});
