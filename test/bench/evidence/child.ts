import { execFileSync, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { mortal } from '../../support/children.ts';
import { createProgram, eventually, query } from '../../support/program.ts';
import { cpuSeconds, startHelper } from '../tools/processes.ts';
import { latenessOf, spreadOf } from '../monitor/lateness.ts';
import type { Arrivals } from '../monitor/servers.ts';
import { createTargets, hostOf } from '../monitor/targets.ts';

/** Of one run, from the moment when the targets begin to fail. */
export interface EvidenceCost {
  readonly isEnabled: boolean;
  readonly seconds: number;
  /** How late the other targets were connected to, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly checks: number;
  readonly missing: number;
  readonly timerP99: number;
  readonly cpuSeconds: number;
  /** Of how many incidents there is evidence. */
  readonly gathered: number;
  readonly incidents: number;
}

const [, , enabled, router = '', host = ''] = process.argv;
const isEnabled = enabled === 'true';
const intervalMs = 10_000;
const failing = 50;
const measuredMs = 60_000;
const settleMs = 3_000;
const inside = (namespace: string, ...command: readonly string[]) =>
  execFileSync('ip', ['netns', 'exec', namespace, ...command]);

const addresses = Array.from({ length: failing }, (_, index) => `10.0.5.${100 + index}`);
for (const address of addresses) inside(host, 'ip', 'address', 'add', `${address}/32`, 'dev', 'left');
const web = mortal(spawn('ip', ['netns', 'exec', host, 'python3', '-m', 'http.server', '8080'], { stdio: 'ignore' }));

await using servers = startHelper<object, Arrivals>(new URL('../monitor/servers.ts', import.meta.url));
const { ports } = await servers.ask({});
const targets = createTargets('tcp', 1_000);
await using program = await createProgram();
const running = await program.start(
  JSON.stringify({
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    evidence: { enabled: isEnabled, last_good: false },
    defaults: { every: `${intervalMs / 1_000}s`, rules: ['down'] },
    rules: { down: { failing: 'majority', rounds: 2, recover: 2 } },
    targets: Object.fromEntries([
      ...targets.map((target) => [target.name, { check: 'tcp', host: hostOf(target, ports), timeout: '2s' }]),
      ...addresses.map((address, index) => [
        `failing-${index}`,
        { check: 'http', host: `http://${address}:8080/`, timeout: '2s' },
      ]),
    ]),
  }),
);
const pid = running.process.pid ?? 0;
await eventually(60_000, () => {
  const [row] = query(program.database, "SELECT count(DISTINCT target) AS up FROM history WHERE status = 'up'");
  if (Number(row?.['up']) < targets.length + failing) throw new Error(`only ${String(row?.['up'])} targets are up`);
});
await pause(2 * intervalMs);

await servers.ask({});
const [began, cpuBefore] = [Date.now(), cpuSeconds(pid)];
for (const address of addresses) inside(router, 'iptables', '-A', 'FORWARD', '-d', address, '-j', 'DROP');
await pause(began + measuredMs - Date.now());
const [ended, cpuAfter] = [Date.now(), cpuSeconds(pid)];
await pause(settleMs);
const { at, timerLate } = await servers.ask({});
const rows = query(
  program.database,
  `SELECT name, due_at FROM results JOIN targets ON id = target_id
   WHERE due_at >= ${began} AND due_at < ${ended} AND name LIKE 'target-%' ORDER BY due_at`,
);
const due = Map.groupBy(rows, ({ name }) => name);
const all = targets.map(({ name, address }) => {
  const moments = (due.get(name) ?? []).map((row) => Number(row['due_at']));
  return latenessOf(moments, at[address] ?? [], intervalMs);
});
const count = (sql: string) => Number(query(program.database, sql)[0]?.['count']);
const cost: EvidenceCost = {
  isEnabled,
  seconds: measuredMs / 1e3,
  ...spreadOf(all.flatMap(({ late }) => late)),
  checks: rows.length,
  missing: all.reduce((sum, { missing }) => sum + missing, 0),
  timerP99: spreadOf(timerLate).p99,
  cpuSeconds: cpuAfter - cpuBefore,
  gathered: count('SELECT count(DISTINCT incident_id) AS count FROM evidence'),
  incidents: count('SELECT count(*) AS count FROM incidents'),
};
await running.end('SIGTERM');
web.kill('SIGKILL');
console.log(JSON.stringify(cost));
