import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemon } from '#compose.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { natsObstacle, startNats } from '../../support/nats-server.ts';
import { eventually } from '../../support/program.ts';
import { tempFolder } from '../../support/store.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const obstacle = natsObstacle();

test.skipIf(obstacle !== null)(
  `a configuration that is reloaded while its hub takes the lead is in force then${obstacle === null ? '' : ` (${obstacle})`}`,
  async () => {
    await using nats = await startNats();
    await nats.stop();
    await nats.start(`jetstream { store_dir: "${join(nats.folder, 'jetstream')}" }`);
    using folder = tempFolder();
    const path = join(folder.path, 'watchpost.yaml');
    await mkdir(join(folder.path, 'nodes'));
    await writeFile(join(folder.path, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
    await writeFile(join(folder.path, 'nodes', 'nodes.json'), '{"nodes":{}}');
    const port = await closedPort();
    const read = async (targets: string) => {
      await writeFile(
        path,
        `
data: watchpost.db
http: { listen: "127.0.0.1:${port}" }
nats: { servers: ["${nats.url}"] }
hubs: { name: a }
nodes: {}
notify: { ops: { email: { to: [ops@example.com] } } }
targets: { ${targets} }
`,
      );
      return loadConfig({ path, env: {} });
    };
    const target = (name: string) => `${name}: { check: tcp, host: "127.0.0.1:9" }`;
    const before = await read(target('shop'));
    const after = await read(`${target('shop')}, ${target('blog')}`);
    const { promise: leads, resolve } = Promise.withResolvers<void>();
    const source = {
      load: async () => leads.then(() => after),
      fingerprint: async () => 'same',
      fingerprintRead: () => 'same',
      lists: () => [],
    };
    const { log } = memoryLog();
    const surroundings = { clock: systemClock, random: systemRandom, log, version: '0.0.0', pid: process.pid };
    const daemon = await startDaemon(before, surroundings, source);
    try {
      const reloaded = daemon.reload('a test');
      await eventually(30_000, async () => expect((await fetch(`http://127.0.0.1:${port}/nodes`)).status).toBe(200));
      resolve();
      expect(await reloaded).toMatchObject({ ok: true, added: ['blog'] });
      await eventually(10_000, async () =>
        expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('blog'),
      );
    } finally {
      await daemon.stop();
    }
  },
  90_000,
);
