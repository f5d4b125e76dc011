import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { agentOptions } from '../../support/thread-nodes.ts';

test('checks of a type that begin together before it is loaded all end', async () => {
  await using server = await tcpServer((socket) => socket.end('hello\n'));
  const agent = await startAgent({ ...agentOptions, policy: 'private' }, systemClock, systemRandom);
  const specs = ['tcp', 'dns', 'http', 'tcp'].map((type) =>
    CheckSpec.parse({ type, host: type === 'dns' ? 'a.example' : server.host, timeout: '300ms' }),
  );
  const { signal } = new AbortController();
  const outcomes = await Promise.all(
    specs.map(async (spec) => agent.run({ spec, policy: 'private', deadlineMs: 2_000 }, signal)),
  );
  expect(outcomes).toHaveLength(4);
  expect([outcomes[0]?.status, outcomes[3]?.status]).toEqual(['up', 'up']);
  await agent.close();
});

test('a check that is cancelled while its type is loaded ends with the reason', async () => {
  const agent = await startAgent({ ...agentOptions, policy: 'private' }, systemClock, systemRandom);
  const ending = new AbortController();
  const spec = CheckSpec.parse({ type: 'tcp', host: '127.0.0.1:1' });
  let started = false;
  const running = agent.run({ spec, policy: 'private', deadlineMs: 2_000 }, ending.signal, {
    onStarted: () => void (started = true),
  });
  ending.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
  expect(started).toBe(false);
  await agent.close();
});

test('a type that nodes do not run is nothing that they know', async () => {
  const agent = await startAgent({ ...agentOptions, policy: 'private' }, systemClock, systemRandom);
  const spec = CheckSpec.parse({ type: 'heartbeat', secret_hash: 'a'.repeat(64) });
  await agent.prepare(['heartbeat']);
  const outcome = await agent.run({ spec, policy: 'private', deadlineMs: 2_000 }, new AbortController().signal);
  expect(outcome).toMatchObject({
    status: 'unknown',
    failure: { source: 'node', code: 'unsupported', message: 'this node does not know heartbeat' },
  });
  await agent.close();
});
