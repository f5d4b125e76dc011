import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsServer } from '../../support/nats-server.ts';
import { createProgram, type Program, query, type Running } from '../../support/program.ts';

/** The real program as a hub, with the nodes of a NATS server enrolled. */
export interface Hub extends AsyncDisposable {
  readonly program: Program;
  readonly running: Running;
}

export async function startHub(nats: NatsServer, settings: Readonly<Record<string, unknown>>): Promise<Hub> {
  await using started = new AsyncDisposableStack();
  const program = started.use(await createProgram());
  const { folder } = program;
  mkdirSync(join(folder, 'nodes'));
  writeFileSync(join(folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
  const enrolled = [...nats.nodes].map(([name, { key }]) => [name, { key, enrolled_at: '2026-01-01T00:00:00Z' }]);
  writeFileSync(join(folder, 'nodes', 'nodes.json'), JSON.stringify({ nodes: Object.fromEntries(enrolled) }));
  const running = await program.start(
    JSON.stringify({
      data: 'watchpost.db',
      http: { listen: '127.0.0.1:0' },
      nats: { servers: [nats.url] },
      nodes: {},
      ...settings,
    }),
  );
  const rest = started.move();
  return { program, running, [Symbol.asyncDispose]: async () => rest.disposeAsync() };
}

/** How many results of rounds that were due in a span are stored, how many of them are unknown, by the fault of a node, or came late. */
export function storedBetween({ program }: Hub, from: number, to: number) {
  const [row] = query(
    program.database,
    `SELECT count(*) AS stored, sum(status = 2) AS unknown, sum(late_at IS NOT NULL) AS late,
       sum(failure ->> 'source' = 'node') AS blamed
     FROM results WHERE due_at >= ${from} AND due_at < ${to}`,
  );
  const figure = (name: string) => Number(row?.[name] ?? 0);
  return { stored: figure('stored'), unknown: figure('unknown'), late: figure('late'), blamed: figure('blamed') };
}

/** Prints why results of rounds that were due in a span are unknown. */
export function tellUnknown({ program }: Hub, from: number, to: number): void {
  const rows = query(
    program.database,
    `SELECT count(*) AS count, count(DISTINCT target_id || due_at) AS rounds, failure ->> 'code' AS code, failure ->> 'message' AS message
     FROM results WHERE status = 2 AND due_at >= ${from} AND due_at < ${to} GROUP BY 3, 4 ORDER BY 1 DESC LIMIT 5`,
  );
  for (const { count, rounds, code, message } of rows)
    console.log(
      `  ${String(count)} results of ${String(rounds)} rounds are unknown (${String(code)}): ${String(message)}`,
    );
}

/** How many incidents were opened so far. */
export function incidentsOf({ program }: Hub): number {
  const [row] = query(program.database, `SELECT count(*) AS count FROM incidents WHERE rule = 'down'`);
  return Number(row?.['count'] ?? 0);
}

/** Rounds that began nowhere since the start, as the program counts them. */
export async function skippedRounds({ running }: Hub): Promise<number> {
  const text = await (await fetch(`${running.url}/metrics`)).text();
  return Number(/^watchpost_rounds_total\{outcome="skipped"\} (\d+)/m.exec(text)?.[1] ?? Number.NaN);
}

/** Prints what the hub warned of, each once. */
export function tellWarnings({ running }: Hub): void {
  const warnings = running.log.filter(({ level }) => level === 'warn' || level === 'error');
  for (const [msg, all] of Map.groupBy(warnings, (line) => line.msg))
    console.log(`  the hub says ${all.length} times: ${msg}`);
}
