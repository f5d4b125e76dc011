import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { protocolRange, type Result } from '#protocol/nodes.ts';
import { createCommandIds } from '#transport/nats/command-ids.ts';
import { createNatsTransport } from '#transport/nats/hub.ts';
import { makeKeyPair } from '#transport/nats/keys.ts';
import { measured, quickTimes, quiet } from '../../support/remote-nodes.ts';
import { closedPort } from '../../support/tcp-servers.ts';
import { nodeInfo } from '../../support/votes.ts';

test('a result that a node inside this hub hands in before the list of nodes is read waits for it', async () => {
  const { seed } = makeKeyPair();
  const ticket = createCommandIds(seed, systemClock, systemRandom).issue({ node: 'us1', type: 'tcp', run: 'r' });
  const list = Promise.withResolvers<readonly ReturnType<typeof nodeInfo>[]>();
  const lates: string[] = [];
  const hub = createNatsTransport({
    account: { servers: [`nats://127.0.0.1:${await closedPort()}`], seed, ca: null, name: 'hub', inbox: 'hub' },
    enrolled: async () => list.promise,
    onAbsence: () => {},
    absentAfterMs: 60_000,
    onLate: async ({ node, run }) => void lates.push(`${node} ${run}`),
    times: quickTimes,
    clock: systemClock,
    random: systemRandom,
    log: quiet,
  });
  const result: Result = { protocol: [...protocolRange], ticket, process: 'p'.repeat(12), outcome: measured };
  const payload = JSON.stringify(result);
  const receipts = Promise.withResolvers<unknown>();
  hub.takeResult('us1', {
    data: Buffer.from(payload),
    string: () => payload,
    respond(receipt = '') {
      receipts.resolve(JSON.parse(String(receipt)));
      return true;
    },
  });
  list.resolve([nodeInfo('us1')]);
  expect(await receipts.promise).toEqual({ ticket, state: 'stored', reason: null });
  expect(lates).toEqual(['us1 r']);
  await hub.close();
});
