import { pino } from 'pino';
import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import type { AgentOptions } from '#node/ports.ts';
import type { Transport } from '#service/ports.ts';
import { createThreadTransport } from '#transport/thread.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { eventually } from '../../support/program.ts';
import { agentOptions, misbehavingEntry } from '../../support/thread-nodes.ts';
import { nodeInfo } from '../../support/votes.ts';

const log = pino({ level: 'silent' });
const never = new AbortController().signal;

const command = (host: string) =>
  ({ spec: CheckSpec.parse({ type: 'tcp', host }), policy: 'private', deadlineMs: 5_000 }) as const;

interface Bad {
  readonly transport: Transport;
  /** Starts of the thread, aborts and commands that it heard. */
  readonly counts: Int32Array;
}

function misbehaving(clock = systemClock, extra: object = {}): Bad {
  const shared = new SharedArrayBuffer(12);
  const node = { info: nodeInfo('de1'), options: { ...agentOptions, ...extra, starts: shared } as AgentOptions };
  return {
    transport: createThreadTransport({ nodes: [node], entry: misbehavingEntry, clock, log }),
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
  expect(await transport.run('de1', command('fine:1'), never)).toMatchObject({ status: 'up' });
  const silent = transport.run('de1', command('is-silent:1'), never);
  const outcome = await transport.run('de1', command(host), never);
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'gone' } });
  expect(outcome).toHaveProperty('failure.message', expect.stringContaining(why));
  expect(await silent).toMatchObject({ status: 'unknown', failure: { code: 'gone' } });
  expect(transport.nodes()[0]).toMatchObject({ online: false });
  await clock.advance(1_000);
  await until(() => Atomics.load(counts, 0) === 2 && transport.nodes()[0]?.online === true);
  expect(await transport.run('de1', command('fine:1'), never)).toMatchObject({ status: 'up' });
  await transport.close();
});

test('a thread that says nothing any more is ended and started again', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  await until(() => transport.nodes()[0]?.online === true);
  const silent = transport.run('de1', command('is-silent:1'), never);
  await clock.advance(15_000);
  expect(await silent).toMatchObject({ status: 'unknown', failure: { code: 'gone' } });
  await clock.advance(1_000);
  await until(() => Atomics.load(counts, 0) === 2);
  await until(() => transport.nodes()[0]?.online === true);
  await transport.close();
});

test('a check that was under way at two losses is put aside and said to be the cause; others go on', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  const back = async (starts: number) =>
    until(() => Atomics.load(counts, 0) === starts && transport.nodes()[0]?.online === true);
  await back(1);
  const innocent = transport.run('de1', command('is-silent:1'), never);
  await transport.run('de1', command('dies:1'), never);
  expect(await innocent).toMatchObject({ failure: { code: 'gone' } });
  await clock.advance(1_000);
  await back(2);
  // What ends properly between the two losses is not suspected, though it was under way at both.
  const often = transport.run('de1', command('answers-later:1'), never);
  await transport.run('de1', command('fine:1'), never);
  await often;
  const again = transport.run('de1', command('answers-later:1'), never);
  expect(await transport.run('de1', command('dies:1'), never)).toMatchObject({ failure: { code: 'gone' } });
  await again;
  await clock.advance(2_000);
  await back(3);
  expect(await transport.run('de1', command('dies:1'), never)).toMatchObject({
    status: 'unknown',
    failure: {
      source: 'node',
      code: 'internal',
      message: expect.stringMatching(/^this check is put aside for .*: the node was lost 2 times while it ran$/),
    },
  });
  expect(await transport.run('de1', command('answers-later:1'), never)).toMatchObject({ status: 'up' });
  expect(Atomics.load(counts, 0)).toBe(3);
  await clock.advance(600_000);
  expect(await transport.run('de1', command('dies:1'), never)).toMatchObject({ failure: { code: 'gone' } });
  await transport.close();
});

test('a check that was given up before the thread was found out to be silent is suspected all the same', async () => {
  const clock = new FakeClock();
  const { transport, counts } = misbehaving(clock);
  for (const starts of [1, 2]) {
    await until(() => Atomics.load(counts, 0) === starts && transport.nodes()[0]?.online === true);
    const controller = new AbortController();
    const given = transport.run('de1', command('is-silent:1'), controller.signal);
    controller.abort(new Error('nobody waits'));
    await expect(given).rejects.toThrow('nobody waits');
    await clock.advance(15_000);
    await clock.advance(2_000);
  }
  await until(() => Atomics.load(counts, 0) === 3 && transport.nodes()[0]?.online === true);
  expect(await transport.run('de1', command('is-silent:1'), never)).toMatchObject({
    failure: { message: expect.stringContaining('put aside') },
  });
  await transport.close();
});

test('an answer given twice counts once', async () => {
  const { transport } = misbehaving();
  expect(await transport.run('de1', command('answers-twice:1'), never)).toMatchObject({ seconds: 0.001 });
  expect(await transport.run('de1', command('fine:1'), never)).toMatchObject({ seconds: 0.001 });
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
