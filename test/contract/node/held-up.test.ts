import { expect, test } from 'vitest';
import { CheckSpec, failed, failure, type FailureCode } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { lateAsUnknown } from '#node/excuse.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { agentOptions } from '../../support/thread-nodes.ts';
import { up } from '../../support/votes.ts';

const down = (code: FailureCode, lag: number, seconds: number | null = null) =>
  failed(failure('target', code, 'it took too long'), { seconds, facts: { node_lag: lag } });

test.each([
  ['a timeout with the node away for a quarter of the time', down('timeout', 0.25), 'unknown'],
  ['a timeout with the node away for less', down('timeout', 0.24), 'down'],
  ['silence with the node away for twice the time', down('silent', 2), 'unknown'],
  ['a name without an answer, with the node away', down('name_timeout', 0.5), 'unknown'],
  ['a part of an answer, with the node away', down('answer', 0.5), 'unknown'],
  ['a latency that is mostly that of the node', down('slow', 0.05, 0.1), 'unknown'],
  ['a latency of the target', down('slow', 0.02, 0.1), 'down'],
  ['what no lateness can make', down('refused', 2), 'down'],
  ['an answer, however late the node was', up(0.2, { facts: { node_lag: 2 } }), 'up'],
])('%s', (_, outcome, expected) => {
  const judged = lateAsUnknown(outcome, 1_000);
  expect(judged.status).toBe(expected);
  if (expected === 'unknown') expect(judged).toMatchObject({ failure: { source: 'node', code: 'busy' } });
});

test.each([
  { name: 'must not be held up', type: 'tcp', isTiming: true },
  { name: 'may sleep for a moment', type: 'ping', isTiming: false },
])('while a check of the type $type runs, its thread $name', async ({ type, isTiming }) => {
  const agent = await startAgent({ ...agentOptions, policy: 'private' }, systemClock, systemRandom);
  await agent.prepare(['tcp', 'ping']);
  await using server = await tcpServer(() => {});
  const more = type === 'tcp' ? { host: server.host, timeout: '200ms', expect: 'hello' } : { host: '127.0.0.1' };
  const spec = CheckSpec.parse({ type, ...more });
  const ending = new AbortController();
  const running = agent.run({ spec, policy: 'private', deadlineMs: 5_000 }, ending.signal);
  expect(agent.health().running).toBe(1);
  expect(agent.isTiming).toBe(isTiming);
  ending.abort(new Error('enough'));
  await Promise.allSettled([running]);
  expect(agent.isTiming).toBe(false);
  await agent.close();
});

test('a process that is held up for longer than the timeout of a check says nothing about the target', async () => {
  const agent = await startAgent({ ...agentOptions, policy: 'private' }, systemClock, systemRandom);
  await using server = await tcpServer(() => {
    const end = systemClock.elapsed() + 400;
    while (systemClock.elapsed() < end);
  });
  const spec = CheckSpec.parse({ type: 'tcp', host: server.host, timeout: '200ms', expect: 'hello' });
  const command = { spec, policy: 'private', deadlineMs: 200 } as const;
  expect(await agent.run(command, new AbortController().signal)).toMatchObject({
    status: 'unknown',
    failure: { source: 'node', code: 'busy', message: expect.stringMatching(/^this node was held up for /) },
  });
  await agent.close();
});
