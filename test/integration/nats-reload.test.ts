import { mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mortal } from '../support/children.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { type NatsServer, natsObstacle, startNats } from '../support/nats-server.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { testedProgram } from '../support/tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;
const obstacle = natsObstacle();

test.skipIf(obstacle !== null)(
  `nodes behind NATS come, move to another server and go by reloads, and nothing is lost over it${obstacle === null ? '' : ` (skipped: ${obstacle})`}`,
  async () => {
    await using stack = new AsyncDisposableStack();
    await using target = await startHttpTarget();
    await using program = await createProgram();
    const file = (name: string) => join(program.folder, name);

    /** A server with a hub and one node, whose process runs. */
    const serve = async (place: string, node: string): Promise<NatsServer> => {
      const nats = stack.use(await startNats({ nodes: [node] }));
      const keys = nats.nodes.get(node);
      if (keys === undefined) throw new Error(`no keys of ${node}`);
      mkdirSync(file(place));
      writeFileSync(file(`${place}/hub.nk`), nats.hub.seed.reveal(), { mode: 0o600 });
      writeFileSync(
        file(`${place}/nodes.json`),
        JSON.stringify({ nodes: { [node]: { key: keys.key, enrolled_at: '2026-11-01T00:00:00.000Z' } } }),
        { mode: 0o600 },
      );
      writeFileSync(file(`${place}/${node}.nk`), keys.seed.reveal(), { mode: 0o600 });
      const flags = ['--name', node, '--servers', nats.url, '--seed-file', file(`${place}/${node}.nk`)];
      const spool = ['--spool-file', file(`${place}/spool.db`), '--allow-private', '--log-level', 'fatal'];
      mortal(spawn(process.execPath, [testedProgram, 'node', ...flags, ...spool], { cwd: root, stdio: 'ignore' }));
      return nats;
    };
    const first = await serve('first', 'us1');
    const second = await serve('second', 'jp1');

    const config = (nodes: string) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets: { shop: { check: http, host: "${target.url}", every: 1s, timeout: 900ms } }
${nodes}`;
    const behind = (place: string, { url }: NatsServer) =>
      `nats: { servers: ["${url}"], seed_file: ${place}/hub.nk, nodes_file: ${place}/nodes.json }\n`;
    const { url, log, end } = await program.start(config('nodes: { de1: {} }\n'));
    const reload = async (nodes: string) => {
      await writeFile(file('watchpost.yaml'), config(nodes));
      const answer = await fetch(`${url}/-/reload`, { method: 'POST' });
      expect(await answer.json()).toMatchObject({ ok: 1, needsRestart: [] });
    };
    const sees = async (...nodes: readonly string[]) => {
      const since = Date.now();
      const sql = `SELECT DISTINCT node FROM history WHERE status = 'up' AND due_at >= ${since} ORDER BY node`;
      await eventually(60_000, () => expect(query(program.database, sql).map(({ node }) => node)).toEqual(nodes));
    };
    const up = async (node: string) =>
      (await (await fetch(`${url}/metrics`)).text()).includes(`node_up{node="${node}"`);

    await sees('de1');
    await reload(`nodes: { de1: {} }\n${behind('first', first)}`);
    await sees('de1', 'us1');
    // Another server, another hub's key, another list.
    await reload(`nodes: { de1: {} }\n${behind('second', second)}`);
    await sees('de1', 'jp1');
    // Those behind NATS alone.
    await reload(`nodes: {}\n${behind('second', second)}`);
    await sees('jp1');
    // What cannot be is refused, and what runs goes on.
    await writeFile(file('watchpost.yaml'), config(behind('nowhere', second)));
    const refused = await fetch(`${url}/-/reload`, { method: 'POST' });
    expect(refused.status).toBe(422);
    await sees('jp1');
    await reload('nodes: { de1: {} }\n');
    await sees('de1');
    expect(await up('de1')).toBe(true);
    expect(await up('jp1')).toBe(false);

    // No round was seen as anything but up by a node, and nobody was told of anything.
    const bad = `SELECT node, status FROM history WHERE status = 'down'`;
    expect(query(program.database, bad)).toEqual([]);
    expect(query(program.database, 'SELECT id FROM incidents')).toEqual([]);
    expect(log.filter(({ msg }) => /switched to other nodes/.test(msg))).toHaveLength(4);
    expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
  },
);
