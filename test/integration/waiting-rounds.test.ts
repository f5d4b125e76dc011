import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { samplesOf } from '../support/samples.ts';
import { tempFolder } from '../support/store.ts';
import { tcpServer } from '../support/tcp-servers.ts';

/** Its timers of three seconds never fire: healthy rounds wait for ever for others. */
const clock: Clock = {
  ...systemClock,
  after: (ms, action) => systemClock.after(Math.round(ms) === 3_000 ? Number.MAX_SAFE_INTEGER : ms, action),
};

interface Shown {
  readonly target: { readonly status: string; readonly rounds: readonly { readonly status: string }[] };
}

test('a healthy round that waits to be written is in /metrics at once, in the API soon, and in the file after a stop', async () => {
  using folder = tempFolder();
  await using server = await tcpServer((socket) => socket.end());
  const path = join(folder.path, 'watchpost.db');
  const yaml = `
data: ${path}
http: { listen: "127.0.0.1:0" }
nodes: { de1: {} }
targets:
  shop: { check: tcp, host: "127.0.0.1:${server.port}", every: 5s }
`;
  const daemon = await startDaemonIn(folder.path, yaml, { renewal: renewalTimes, clock });
  await using _ = daemon;
  const ask = async (what: string) => fetch(`http://127.0.0.1:${daemon.web.addr().port}${what}`);
  const shown = async () => ((await (await ask('/api/v1/targets/shop')).json()) as Shown).target;
  const counted = async () => {
    const samples = [...samplesOf(await (await ask('/metrics')).text())];
    const own = samples.filter(([series]) => series.startsWith('watchpost_check_results_total{target="shop"'));
    return own.reduce((sum, [, value]) => sum + value, 0);
  };
  const written = () => {
    const database = new Database(path, { readonly: true });
    const count = database.prepare('SELECT count(*) FROM results').pluck().get();
    database.close();
    return count;
  };

  await expect.poll(counted, { timeout: 30_000 }).toBe(1);
  expect(written()).toBe(0);
  await expect.poll(async () => (await shown()).rounds.length, { timeout: 30_000 }).toBe(1);
  expect(await shown()).toMatchObject({ status: 'up', rounds: [{ status: 'up' }] });
  expect(written()).toBe(1);

  await expect.poll(counted, { timeout: 30_000 }).toBe(2);
  expect(written()).toBe(1);
  await daemon.stop();
  expect(written()).toBe(2);
});
