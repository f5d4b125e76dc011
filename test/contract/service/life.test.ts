import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import { CheckRun } from '#service/check-run.ts';
import { startChore } from '#kernel/chore.ts';
import { fakeNodes, places, startService, waiting } from '../../support/check-service.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { openAt, quiet } from '../../support/store.ts';
import { nodeInfo, notUp, up } from '../../support/votes.ts';

// The life of a run: stored before it is answered, kept over restarts, deleted in the end.

let path = '';

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'watchpost-life-'));
});

afterEach(() => {
  rmSync(path, { recursive: true });
});

const tcpDetail = { timed_by: null, clock_seconds: null, answer: null, tls: null };
const outcome: Outcome = { ...up(0.012345, { address: '192.0.2.80', phases: { connect: 0.01 } }), detail: tcpDetail };
const spec = CheckSpec.parse({ type: 'tcp', host: 'example.com:443' });
const file = () => join(path, 'watchpost.db');

async function get(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>;
}

test('a run is in the database before its start is answered', async () => {
  await using service = await startService({ transport: fakeNodes(), path });
  const { request_id: id } = await get(`${service.url}/check-tcp?host=127.0.0.1:80`);
  const database = new Database(file(), { readonly: true });
  expect(database.prepare('SELECT id FROM runs').all()).toEqual([{ id }]);
  database.close();
});

test('results are the same after a restart, and nodes that had not answered are faults', async () => {
  const transport = fakeNodes(places, (node, command, signal) =>
    node === 'us1' ? waiting(node, command, signal) : outcome,
  );
  let before: Record<string, unknown>;
  let id: unknown;
  {
    await using service = await startService({ transport, path });
    ({ request_id: id } = await get(`${service.url}/check-tcp?host=127.0.0.1:80`));
    before = await get(`${service.url}/check-result-extended/${String(id)}`);
    // As a crash leaves it: the outcomes that were committed, and no more.
    await service.store.close();
  }
  await using again = await startService({ transport: fakeNodes(), path });
  const after = await get(`${again.url}/check-result-extended/${String(id)}`);
  const lost = [null, { message: 'the service was restarted before this node answered' }];
  const results = { ...(before['results'] as object), 'us1.node.watchpost.internal': lost };
  expect(after).toEqual({ ...before, results });
});

test('two thousand starts at once are all stored, with outcomes of their own', async () => {
  await using service = await startService({ transport: fakeNodes(places.slice(0, 1), () => outcome), path });
  const nodes = places.slice(0, 1);
  const runs = await Promise.all(
    Array.from({ length: 2_000 }, async () => service.checks.start({ spec, nodes, policy: 'public' })),
  );
  expect(new Set(runs.map(({ id }) => id)).size).toBe(2_000);
  await service.store.close();
  const database = new Database(file(), { readonly: true });
  expect(database.prepare('SELECT count(*) AS count FROM runs').get()).toEqual({ count: 2_000 });
  database.close();
});

test('what is stored is read back as it was', async () => {
  const clock = new FakeClock();
  {
    await using store = openAt(file(), clock);
    await store.checks.addRun({ id: 'a', createdAt: 5, spec, nodes: [nodeInfo('de1'), nodeInfo('us1')] });
    store.checks.addOutcome('a', 1, outcome);
    store.checks.addOutcome('a', 1, notUp('refused'));
    store.checks.addOutcome('nowhere', 0, outcome);
  }
  await using store = openAt(file(), clock);
  expect(store.checks.findRun('a')).toEqual({
    id: 'a',
    createdAt: 5,
    spec,
    results: [
      { node: nodeInfo('de1'), outcome: null },
      { node: nodeInfo('us1'), outcome },
    ],
  });
  expect(store.checks.findRun('b')).toBeNull();
});

test('a database that refuses fails the start with 503, and the next one goes through', async () => {
  await using service = await startService({ transport: fakeNodes(places.slice(0, 1), () => outcome), path });
  const other = new Database(file());
  other.exec('BEGIN IMMEDIATE');
  const refused = await fetch(`${service.url}/check-tcp?host=127.0.0.1:80`);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await refused.json()).toMatchObject({ ok: 0, error: 'unavailable' });
  other.exec('COMMIT');
  other.close();
  expect((await fetch(`${service.url}/check-tcp?host=127.0.0.1:80`)).status).toBe(200);
});

test('more open runs than there is room for are refused with 503', async () => {
  await using service = await startService({ transport: fakeNodes(), path, openLimit: 1 });
  expect((await fetch(`${service.url}/check-tcp?host=127.0.0.1:80`)).status).toBe(200);
  const refused = await fetch(`${service.url}/check-tcp?host=127.0.0.1:80`);
  expect([refused.status, await refused.json()]).toEqual([503, expect.objectContaining({ error: 'unavailable' })]);
});

test('runs are deleted when they are old enough, a few at a time, with all that belongs to them', async () => {
  const clock = new FakeClock();
  await using store = openAt(file(), clock);
  const keepMs = 86_400_000;
  for (let index = 0; index < 500; index += 1) {
    await store.checks.addRun({ id: `old${index}`, createdAt: clock.now(), spec, nodes: [nodeInfo('de1')] });
    store.checks.addOutcome(`old${index}`, 0, outcome);
  }
  await clock.advance(keepMs);
  await store.checks.addRun({ id: 'new', createdAt: clock.now(), spec, nodes: [nodeInfo('de1')] });
  await clock.advance(1);
  const step = () => store.checks.pruneRuns({ before: clock.now() - keepMs, limit: 200 }) > 0;
  using _ = startChore({ step, trouble: 'old checks were not deleted', clock, log: quiet });
  await clock.advance(200);
  expect([store.checks.findRun('old0'), store.checks.findRun('old499')?.id]).toEqual([null, 'old499']);
  await clock.advance(1_000);
  expect([store.checks.findRun('old499'), store.checks.findRun('new')?.id]).toEqual([null, 'new']);
  const database = new Database(file(), { readonly: true });
  expect(database.prepare('SELECT count(*) AS count FROM run_results').get()).toEqual({ count: 0 });
  database.close();
});

test('only the first outcome of a node counts, and nobody else can answer', () => {
  const [de1, us1] = [nodeInfo('de1'), nodeInfo('us1')];
  const run = new CheckRun({ id: 'a', createdAt: 0, spec, results: [{ node: de1, outcome: null }] });
  let changes = 0;
  using _ = run.onChange(() => (changes += 1));
  expect([run.record(us1, outcome), run.record(de1, outcome), run.record(de1, notUp('refused'))]).toEqual([-1, 0, -1]);
  expect([run.done, run.finished, changes, run.results[0]?.outcome]).toEqual([true, 1, 1, outcome]);
});
