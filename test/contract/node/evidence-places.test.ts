import { z } from 'zod';
import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { startAgent } from '#node/agent.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { agentOptions } from '../../support/thread-nodes.ts';

test('gathering evidence takes no place of a check that is due, and two run at a time', async () => {
  await using silent = await tcpServer(() => {});
  const agent = await startAgent({ ...agentOptions, policy: 'private', running: 1 }, systemClock, systemRandom);
  await agent.prepare(['evidence', 'tcp']);
  const target = CheckSpec.parse({ type: 'tcp', host: silent.host, timeout: '5s', expect: 'never' });
  const of = z.encode(CheckSpec, target);
  const evidence = CheckSpec.parse({ type: 'evidence', host: of.host, of });
  const ending = new AbortController();
  let started = 0;
  const gatherings = Array.from({ length: 3 }, async () =>
    agent.run({ spec: evidence, policy: 'private', deadlineMs: 10_000 }, ending.signal, {
      onStarted: () => void (started += 1),
    }),
  );
  expect(started).toBe(2);
  expect(agent.health()).toMatchObject({ running: 0, queued: 0 });
  const due = CheckSpec.parse({ type: 'tcp', host: silent.host, timeout: '5s' });
  const outcome = await agent.run({ spec: due, policy: 'private', deadlineMs: 5_000 }, ending.signal);
  expect(outcome.status).toBe('up');
  // The check was done although the first two are still at it.
  expect(started).toBe(2);
  ending.abort(new Error('enough'));
  await Promise.allSettled(gatherings);
  await agent.close();
});
