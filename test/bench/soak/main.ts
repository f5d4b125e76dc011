import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createProgram, query, type Running } from '../../support/program.ts';
import { cpuSeconds, memoryBytes } from '../tools/processes.ts';
import { figure, printTable } from '../tools/table.ts';
import { startUnsteadyMail } from './mail.ts';
import { type Visitors, startVisitors } from './visitors.ts';

// The whole daemon for as long as it takes to see whether anything grows: targets of which a tenth fails, a mail server that comes
// and goes, reloads, scrapes, and people who look at pages. What it holds is printed over time.

const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: {
    minutes: { type: 'string', default: '60' },
    targets: { type: 'string', default: '1000' },
    interval: { type: 'string', default: '20' },
    sample: { type: 'string', default: '30' },
  },
});
const minutes = Number(options.minutes);
const count = Number(options.targets);
const intervalSeconds = Number(options.interval);
const sampleMs = Number(options.sample) * 1_000;
if (!(minutes > 0 && count >= 10 && intervalSeconds >= 1 && sampleMs >= 1_000))
  throw new Error('give it some minutes, ten targets or more, and whole seconds');

const reloadEveryMs = 20_000;
const turnMs = 90_000;

const beganAt = performance.now();
const elapsedMs = () => performance.now() - beganAt;

// Half of the tenth that fails comes back from time to time.
const server = createServer(({ url = '' }, response) => {
  const isUp = url.startsWith('/ok') || (url.startsWith('/turns') && Math.floor(elapsedMs() / turnMs) % 2 === 0);
  response.writeHead(isUp ? 200 : 503, { 'content-length': 3 }).end('ok\n');
}).listen(0, '127.0.0.1', 4_096);
await once(server, 'listening');
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;

await using mail = await startUnsteadyMail();
await using program = await createProgram();
const running = await program.start(configuration(0));
const pid = running.process.pid ?? 0;
await using visitors = startVisitors(running.url, 'target0');

console.log(
  `${count} targets every ${intervalSeconds} s, a tenth of them failing, for ${figure(minutes)} minutes: mail that comes and goes, a reload every ` +
    `${reloadEveryMs / 1_000} s, a scrape every 5 s, ${visitors.streams} streams and pages that are loaded\n`,
);

interface Sample {
  readonly minute: number;
  readonly memory: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly cpu: number;
  readonly database: number;
  readonly waiting: number;
  readonly mails: number;
}

const stop = new AbortController();
const reloading = reloadAgain(running, stop.signal);
const samples: Sample[] = [];
try {
  while (elapsedMs() < minutes * 60_000) {
    await pause(sampleMs);
    if (running.process.exitCode !== null) throw new Error(`the program ended with ${running.process.exitCode}`);
    samples.push(sampleNow());
  }
} finally {
  stop.abort();
}
const reloads = await reloading;
printSamples();
printWhole(reloads, visitors.made);
// A visit that failed is an error, after what was measured.
const failed = await visitors.failure();
if (failed !== null) console.log(`a visit failed: ${failed}`);
const ended = await running.end('SIGTERM');
console.log(`ended with ${ended.code ?? ended.signal}`);
server.close();
server.closeAllConnections();
process.exitCode = failed === null ? (ended.code ?? 1) : 1;

function configuration(turn: number): string {
  const target = (index: number) => {
    const path = index % 10 !== 0 ? '/ok' : index % 20 === 0 ? '/turns' : '/fails';
    const every = index === 1 && turn % 2 === 1 ? intervalSeconds + 1 : intervalSeconds;
    return `  target${index}: { check: http, host: "http://127.0.0.1:${port}${path}/${index}", every: ${every}s, timeout: 900ms }`;
  };
  const targets = Array.from({ length: count + (turn % 3) }, (_, index) => target(index));
  return `
data: watchpost.db
http: { listen: 127.0.0.1:0, public_url: "https://status${turn % 2}.example.com" }
smtp: { url: "smtp://127.0.0.1:${mail.port}", from: alerts@example.com }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 5s, group_interval: 1m, remind: [1m], storm: { messages: 1000, per: 1h } } }
targets:
${targets.join('\n')}
`;
}

async function reloadAgain({ url }: Running, signal: AbortSignal): Promise<number> {
  let turn = 0;
  while (!signal.aborted) {
    await pause(reloadEveryMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    turn += 1;
    await writeFile(join(program.folder, 'watchpost.yaml'), configuration(turn));
    // On a connection of its own: one that waited may be closed while this is on its way, and it is not to be asked twice.
    const answer = await fetch(`${url}/-/reload`, { method: 'POST', headers: { connection: 'close' } });
    if (!answer.ok) throw new Error(`the reload was answered with ${answer.status}: ${await answer.text()}`);
  }
  return turn;
}

function sampleNow(): Sample {
  const files = ['', '-wal', '-shm'].map((end) => `${program.database}${end}`);
  const [waiting] = query(program.database, `SELECT count(*) AS count FROM deliveries WHERE state = 'pending'`);
  return {
    minute: elapsedMs() / 60_000,
    memory: memoryBytes(pid).now,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    cpu: cpuSeconds(pid),
    database: files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0),
    waiting: Number(waiting?.['count']),
    mails: mail.taken,
  };
}

function printSamples(): void {
  const step = Math.max(1, Math.ceil(samples.length / 30));
  const shown = samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
  printTable(
    ['minute', 'memory', 'descriptors', 'threads', 'CPU', 'database', 'deliveries waiting', 'mails'],
    shown.map((one) => [
      one.minute.toFixed(1),
      megabytes(one.memory),
      String(one.descriptors),
      String(one.threads),
      `${one.cpu.toFixed(1)} s`,
      megabytes(one.database),
      String(one.waiting),
      String(one.mails),
    ]),
  );
}

function printWhole(reloads: number, { pages, scrapes, events, repeated }: Visitors['made']): void {
  // What is loaded at first is no growth: the second third beside the last one.
  const third = Math.floor(samples.length / 3);
  const mean = (of: readonly Sample[], what: (one: Sample) => number) =>
    of.reduce((sum, one) => sum + what(one), 0) / of.length;
  const [early, late] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const row = (name: string, what: (one: Sample) => number, words: (value: number) => string) => [
    name,
    words(mean(early, what)),
    words(mean(late, what)),
  ];
  printTable(
    ['mean of', 'second third', 'last third'],
    [
      row('memory', ({ memory }) => memory, megabytes),
      row(
        'descriptors',
        ({ descriptors }) => descriptors,
        (value) => value.toFixed(1),
      ),
      row(
        'threads',
        ({ threads }) => threads,
        (value) => value.toFixed(1),
      ),
    ],
  );
  const [rounds] = query(program.database, 'SELECT count(*) AS count FROM incidents');
  console.log(
    `${reloads} reloads, ${scrapes} scrapes, ${pages} pages (${repeated} requests repeated), ${events} events of streams, ${Number(rounds?.['count'])} incidents, ` +
      `${mail.taken} mails taken, ${mail.refused} refused; peak of memory ${megabytes(Math.max(...samples.map((one) => one.memory)))}`,
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
