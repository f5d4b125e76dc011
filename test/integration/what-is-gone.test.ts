import { globSync, rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { holdersOf } from '../support/heap-snapshot.ts';
import { serveHttp } from '../support/http-servers.ts';
import { createProgram, eventually } from '../support/program.ts';

const turns = 6;
const eachTurn = 8;
// Not the identifiers of incidents, which begin with it: of those that people were told of, some thousands are remembered.
const name = /^gone-\d+-\d+(?![\w/-])/;

test('of targets that come and go nothing stays in memory but the numbers of their names in the database', async () => {
  const snapshots = await mkdtemp(join(tmpdir(), 'watchpost-heap-'));
  await using server = await serveHttp(({ url }, response) => response.writeHead(url === '/bad' ? 503 : 200).end());
  await using program = await createProgram({
    environment: { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${snapshots}` },
  });
  const one = (target: string, path: string) =>
    `  ${target}: { check: http, host: "http://127.0.0.1:${server.port}/${path}", every: 1s, timeout: 900ms, objective: 99% over 7d }`;
  const config = (turn: number | null) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
rules: { down: { rounds: 1, recover: 1 }, slow: { latency: { above: 5s, window: 1m } } }
defaults: { rules: [down, slow], notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
targets:
${one('stays', '')}
${turn === null ? '' : Array.from({ length: eachTurn }, (_, index) => one(`gone-${turn}-${index}`, index % 2 === 0 ? 'bad' : '')).join('\n')}
`;
  try {
    const { url, process: child } = await program.start(config(0));
    const scrape = async () => (await fetch(`${url}/metrics`)).text();
    for (let turn = 0; turn < turns; turn += 1) {
      const seen = `watchpost_check_results_total{target="gone-${turn}-${eachTurn - 1}"`;
      await eventually(60_000, async () => expect(await scrape()).toContain(seen));
      await writeFile(join(program.folder, 'watchpost.yaml'), config(turn + 1 < turns ? turn + 1 : null));
      expect((await fetch(`${url}/-/reload`, { method: 'POST' })).status).toBe(200);
    }
    // The last rounds of what was taken out may still be under way, and a snapshot is written in pieces.
    await eventually(30_000, async () => {
      await scrape();
      const before = globSync('*.heapsnapshot', { cwd: snapshots }).length;
      child.kill('SIGUSR2');
      const path = await eventually(30_000, () => {
        const names = globSync('*.heapsnapshot', { cwd: snapshots }).sort();
        expect(names.length).toBeGreaterThan(before);
        return join(snapshots, names.at(-1) ?? '');
      });
      const holders = await eventually(30_000, () => holdersOf(path, name, eachTurn));
      expect(holders.flatMap(({ names }) => names)).toEqual(['target']);
    });
  } finally {
    rmSync(snapshots, { recursive: true, force: true });
  }
});
