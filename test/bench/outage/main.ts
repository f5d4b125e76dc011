import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bundleProgram } from '../../support/bundled-program.ts';
import { mailsIn } from '../../support/mail-files.ts';
import { createProgram, type Program, query, type Running } from '../../support/program.ts';
import { limitResources, limitsObstacle } from '../../support/resource-limits.ts';
import { comeFirst, cpuSeconds, memoryBytes, threadCpuSeconds } from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';

// All targets are on one server, which ends, or stops and holds its connections, and comes back a minute later: how soon all incidents
// are open and closed, and what that takes.

interface OutageLoad {
  readonly targets: number;
  readonly how: 'killed' | 'stopped';
  /** Whether the program has a quarter of a core and 256 MB only. */
  readonly isSmall: boolean;
}

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: { targets: { type: 'string', multiple: true, default: ['1000', '10000'] } },
});

const every = 20;
const smallest = { memoryBytes: 256 * 2 ** 20, cpu: 0.25 };
const mostOfSmallest = 1_000;
const warmUpMs = 45_000;
const outageMs = 70_000;
const lookEveryMs = 1_000;
const patienceMs = 240_000;
const house = bundleProgram();

async function startServer(port: number): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = fork(new URL('server-child.ts', import.meta.url), [String(port)]);
  const [bound] = (await once(child, 'message')) as [number];
  return { child, port: bound };
}

/** Looks at the program each second until so many incidents are as asked, and for the whole time at least. */
async function watch(program: Program, running: Running, what: 'opened_at' | 'ended_at', targets: number) {
  const began = performance.now();
  let doneMs: number | null = null;
  let slowestMs = 0;
  for (;;) {
    const asked = performance.now();
    const response = await fetch(running.url);
    await response.text();
    slowestMs = Math.max(slowestMs, performance.now() - asked);
    const [row] = query(program.database, `SELECT count(${what}) AS count FROM incidents WHERE rule = 'down'`);
    const passedMs = performance.now() - began;
    if (Number(row?.['count']) >= targets) doneMs ??= passedMs;
    if ((doneMs !== null && passedMs >= outageMs) || passedMs >= patienceMs) return { doneMs, slowestMs };
    await pause(lookEveryMs);
  }
}

async function measure({ targets, how, isSmall }: OutageLoad): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const limits = isSmall ? stack.use(limitResources(smallest)) : null;
  const program = stack.use(
    await createProgram({
      house: house.house,
      environment: { MALLOC_ARENA_MAX: '2' },
      ...(limits !== null && { prefix: limits.prefix }),
    }),
  );
  let server = await startServer(0);
  stack.defer(() => void server.child.kill('SIGKILL'));
  const { port } = server;
  const running = await program.start(
    JSON.stringify({
      data: 'watchpost.db',
      http: { listen: '127.0.0.1:0' },
      defaults: { every: `${every}s`, notify: ['ops'] },
      notify: { ops: { email: { to: ['ops@example.com'] } } },
      targets: Object.fromEntries(
        Array.from({ length: targets }, (_, index) => [
          `t${index}`,
          { check: 'http', host: `http://127.0.0.1:${port}/${index}` },
        ]),
      ),
    }),
  );
  const pid = running.process.pid ?? 0;
  await pause(warmUpMs);

  const before = { hub: threadCpuSeconds(pid, pid), all: cpuSeconds(pid) };
  server.child.kill(how === 'killed' ? 'SIGKILL' : 'SIGSTOP');
  const opened = await watch(program, running, 'opened_at', targets);
  const after = { hub: threadCpuSeconds(pid, pid), all: cpuSeconds(pid) };
  const mails = (await mailsIn(program.folder)).length;
  if (how === 'killed') server = await startServer(port);
  else server.child.kill('SIGCONT');
  const closed = await watch(program, running, 'ended_at', targets);
  const { peak } = memoryBytes(pid);
  await running.end('SIGTERM');

  return [
    `${targets}, ${how}${isSmall ? ', 0.25 core, 256 MB' : ''}`,
    figure((opened.doneMs ?? Number.NaN) / 1e3),
    String(mails),
    figure(after.hub - before.hub),
    figure(after.all - before.all),
    figure((closed.doneMs ?? Number.NaN) / 1e3),
    figure(Math.max(opened.slowestMs, closed.slowestMs)),
    figure(peak / 1e6),
  ];
}

comeFirst();
console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`);
console.log(`http every ${every} s, two rounds to be down; the outage lasts ${outageMs / 1e3} s at least\n`);
const obstacle = limitsObstacle();
if (obstacle !== null) console.log(`a quarter of a core: skipped, ${obstacle}`);
const rows: string[][] = [];
for (const targets of options.targets.map(Number))
  for (const how of ['killed', 'stopped'] as const)
    for (const isSmall of obstacle === null && targets <= mostOfSmallest ? [false, true] : [false])
      rows.push(await measure({ targets, how, isSmall }));
printTable(
  ['targets', 'all open s', 'mails', 'hub CPU s', 'CPU s', 'all closed s', 'slowest page ms', 'peak MB'],
  rows,
);
house[Symbol.dispose]();
