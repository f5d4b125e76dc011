import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type FleetHub, startFleet } from '../../support/fleet.ts';
import { eventually, query } from '../../support/program.ts';
import { cpuSeconds } from '../tools/processes.ts';

// How long a new hub takes to have the history of the one that leads, while that one goes on.

const targetCount = 1_000;
const spanMs = 3_000_000;
const joinWithinMs = 600_000;

export async function measureJoin(results: number): Promise<void> {
  await using fleet = await startFleet();
  const lines = Array.from(
    { length: targetCount },
    (_, index) =>
      `  t${index}: { check: http, host: "${fleet.target.url}", every: 5s, timeout: 900ms, rules: [quick] }`,
  );
  const edit = (config: string) => `${config}${lines.join('\n')}\n`;
  const [a, b] = [fleet.hub('a'), fleet.hub('b')];
  await a.start(edit);
  await fleet.leader();
  await eventually(60_000, () => {
    const [row] = query(a.program.database, `SELECT count(*) AS n FROM targets WHERE name GLOB 't[0-9]*'`);
    if (Number(row?.['n']) < targetCount) throw new Error('not every target has a result yet');
  });
  await a.running?.end('SIGTERM');
  fill(a, results);
  await a.start(edit);
  await fleet.leader();
  const count = Number(query(a.program.database, 'SELECT count(*) AS n FROM results')[0]?.['n']);
  const pid = a.running?.process.pid ?? 0;
  const [begunAt, usedBefore] = [performance.now(), cpuSeconds(pid)];
  const running = await b.start(edit);
  await running.logged(/the history is that of the other hubs/);
  const copiedMs = performance.now() - begunAt;
  await eventually(joinWithinMs, async () => fleet.agreed());
  const joinedMs = performance.now() - begunAt;
  const used = cpuSeconds(pid) - usedBefore;
  const bytes = statSync(b.program.database).size;
  const theirs = Number(query(b.program.database, 'SELECT count(*) AS n FROM results')[0]?.['n']);
  if (theirs < count) throw new Error(`the new hub has ${theirs} of ${count} results`);
  console.log(
    `join: ${count} results, ${(bytes / 1e6).toFixed(0)} MB: copied ${seconds(copiedMs)} s after the start of the process, ` +
      `level with the leader after ${seconds(joinedMs)} s; the leader used ${used.toFixed(1)} s of CPU meanwhile`,
  );
}

const seconds = (ms: number) => (ms / 1_000).toFixed(1);

// Results of the last hour that no hub has sealed yet: the most bytes that a result ever takes.
function fill({ program }: FleetHub, results: number): void {
  const database = new Database(program.database);
  try {
    const perTarget = Math.ceil(results / targetCount);
    const from = Date.now() - spanMs;
    database
      .prepare(
        `WITH RECURSIVE step(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM step WHERE at + 1 < :perTarget)
         INSERT OR IGNORE INTO results (due_at, target_id, node_id, status, duration_us)
         SELECT :from + at * :everyMs + targets.id % :everyMs, targets.id, nodes.id, 0, 9000 + (at * 7919) % 5000
         FROM step CROSS JOIN targets CROSS JOIN (SELECT id FROM nodes LIMIT 1) AS nodes WHERE targets.name GLOB 't[0-9]*'`,
      )
      .run({ perTarget, from, everyMs: Math.floor(spanMs / perTarget) });
  } finally {
    database.close();
  }
}
