import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createProgram } from '../../support/program.ts';
import { tcpServer } from '../../support/tcp-servers.ts';

// Run in a network namespace where 198.18.0.0/15 is this machine's own: the real program, a crowd that wants to shut it for others, and
// other clients, each of all with an address of its own. Tells the id of the program, begins when it is told to, and tells as JSON how the
// others were answered.

const [addresses, seconds] = process.argv.slice(2).map(Number) as [number, number];
const host = '198.19.255.1';
const perAddress = 2;
const perSecond = 20;

await using target = await tcpServer((socket) => socket.end());
await using program = await createProgram();
const targets = Array.from(
  { length: 100 },
  (_, index) => `  t${index}: { check: tcp, host: "127.0.0.1:${target.port}" }`,
);
const running = await program.start(`
data: watchpost.db
http:
  listen: ${host}:8080
  admin: 127.0.0.1:8081
  users: { ann: { password_hash: "$scrypt$ln=15,r=8,p=1$4IFO6htCCsDcshWEfk4TWw$PeH29v+ClnWs6q4gRQQ7fIB0L7aqn5PJ3iY+zP64NUU" } }
service: { open: true, allow_private: true, limits: { per_client: 100/s, per_target: 100000/s, per_node: 100000/s, overall: 100000/s } }
nodes: { de1: {} }
defaults: { every: 5s }
targets:
${targets.join('\n')}
pages: { status: { targets: { t0: Shop } } }
`);
await pause(10_000);
process.stdout.write(`${running.process.pid}\n`);
await once(process.stdin, 'data');
process.stdin.destroy();

const form = 'user=ann&password=wrong';
const attacks: readonly ((socket: Socket) => void)[] = [
  function idle() {},
  function halfHead(socket) {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
  },
  function slowBody(socket) {
    socket.write('POST /api/v1/checks HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n{');
  },
  function stream(socket) {
    socket.write('GET /live/status HTTP/1.1\r\nHost: a\r\n\r\n');
  },
  function wrongLogin(socket) {
    const head = `POST /login HTTP/1.1\r\nHost: ${host}:8080\r\nOrigin: http://${host}:8080\r\nContent-Type: application/x-www-form-urlencoded`;
    socket.write(`${head}\r\nContent-Length: ${form.length}\r\n\r\n${form}`);
  },
];

const addressOf = (net: number, index: number) => `198.${net}.${Math.floor(index / 250)}.${1 + (index % 250)}`;
let isOver = false;
const open = new Set<Socket>();

/** A connection that does its worst, and comes back when it is cut. */
function attack(index: number): void {
  if (isOver) return;
  const socket = connect({ host, port: 8080, localAddress: addressOf(18, index) });
  socket.once('connect', () => {
    open.add(socket);
    attacks[index % attacks.length]?.(socket);
  });
  // A wrong login is followed by the next.
  socket.on('data', () => index % attacks.length === attacks.length - 1 && socket.destroy());
  socket.on('error', () => {});
  socket.once('close', () => {
    open.delete(socket);
    setTimeout(attack, 1_000, index);
  });
}

interface Answer {
  readonly path: string;
  readonly ok: boolean;
  readonly ms: number;
}

async function ask(path: string, index: number): Promise<Answer> {
  const begun = performance.now();
  try {
    const request = get({ host, port: 8080, path, localAddress: addressOf(19, index), agent: false, timeout: 10_000 });
    request.once('timeout', () => request.destroy(new Error('timeout')));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    for await (const _ of response);
    return { path, ok: response.statusCode === 200, ms: performance.now() - begun };
  } catch {
    return { path, ok: false, ms: performance.now() - begun };
  }
}

async function lags() {
  const text = await (await fetch('http://127.0.0.1:8081/metrics')).text();
  const counts = [...text.matchAll(/^watchpost_schedule_lag_seconds_bucket\{le="([^"]+)"\} (\d+)/gm)];
  const upTo = (limit: string) => Number(counts.find(([, le]) => le === limit)?.[2] ?? 0);
  return { all: upTo('+Inf'), onTime: upTo('0.05') };
}

const paths = ['/status', '/check', '/check-tcp?host=127.0.0.1%3A80&max_nodes=1', '/nodes/hosts', '/login'];

async function askAll(from: number): Promise<readonly Answer[]> {
  const all: Promise<Answer>[] = [];
  for (let index = 0; index < seconds * perSecond; index += 1) {
    all.push(ask(paths[index % paths.length] ?? '/', from + index));
    await pause(1_000 / perSecond);
  }
  return Promise.all(all);
}

const figuresOf = (answers: readonly Answer[]) => {
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    asked: answers.length,
    withinSecond: answers.filter(({ ok, ms }) => ok && ms <= 1_000).length,
    refused: answers.filter(({ ok }) => !ok).length,
    p50: times[Math.floor(times.length / 2)] ?? Number.NaN,
    p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
  };
};

const calm = figuresOf(await askAll(0));
for (let index = 0; index < addresses * perAddress; index += 1) attack(index % addresses);
await pause(5_000);
const before = await lags();
const answers = await askAll(5_000);
const crowded = figuresOf(answers);
const byPath = [...Map.groupBy(answers, ({ path }) => path)].map(([path, all]) => ({ path, ...figuresOf(all) }));
const after = await lags();
const held = open.size;
isOver = true;
for (const socket of open) socket.destroy();
const checks = { all: after.all - before.all, onTime: after.onTime - before.onTime };
await running.end('SIGKILL');
process.stdout.write(`${JSON.stringify({ calm, crowded, byPath, held, checks })}\n`);
process.exit(0);
