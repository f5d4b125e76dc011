import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import type { Outcome } from '#checks/index.ts';
import { fakeNodes, places, startService } from '../../support/check-service.ts';
import { up } from '../../support/votes.ts';

// The process under load: a check service on SQLite whose one node answers at once, or never while "hold" is set, and beside it
// a bare Fastify route that answers constant JSON.

const detail = { timed_by: null, clock_seconds: null, answer: null, tls: null };
const outcome: Outcome = { ...up(0.000_12, { address: '127.0.0.1', phases: { connect: 0.000_12 } }), detail };

let hold = false;
let release = () => {};
let released = new Promise<void>((resolve) => (release = resolve));
const transport = fakeNodes(places.slice(0, 1), async () => {
  if (hold) await released;
  return outcome;
});
// What is kept of each command would be counted as the service's own memory.
setInterval(() => (transport.commands as unknown[]).splice(0), 100).unref();

const service = await startService({ transport });
const bare = Fastify();
bare.get('/constant', () => ({ 'de1.node.watchpost.internal': [{ time: 0.000_12, address: '127.0.0.1' }] }));
await bare.listen({ host: '127.0.0.1', port: 0 });
const address = bare.server.address();

type Order = 'figures' | 'hold' | 'release' | 'end';

process.on('message', (order: Order) => void obey(order));
process.send?.({ url: service.url, bare: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` });

async function obey(order: Order): Promise<void> {
  if (order === 'hold') hold = true;
  if (order === 'release') {
    hold = false;
    release();
    released = new Promise<void>((resolve) => (release = resolve));
  }
  if (order === 'end') {
    await bare.close();
    await service[Symbol.asyncDispose]();
    process.disconnect();
    return;
  }
  if (order === 'figures') {
    // What nobody refers to any more does not count.
    await sleep(300);
    for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  }
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.({
    rss,
    heapUsed,
    open: service.checks.open,
    cpuMs: process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000,
  });
}
