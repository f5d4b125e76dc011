import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request as requestOf } from 'node:http';
import { connect, type Socket } from 'node:net';
import { requestHttp1 } from '#checks/http/http1.ts';
import { closeSocket } from '#checks/connection.ts';
import { figure, printTable } from '../tools/table.ts';

// CPU for one HTTP exchange on a connection of its own: our client, Node's, and a socket that only writes and reads. They take
// turns in short slices, so that whatever else the machine does meanwhile hurts all alike.

const slices = 60;
const discarded = 10;
const [atOnce, batches] = [10, 10];

const child = fork(new URL('server-child.ts', import.meta.url));
const [port] = (await once(child, 'message')) as [number];

async function withSocket(use: (socket: Socket) => Promise<unknown>): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, autoSelectFamily: false, noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => {});
  await use(socket);
  await closeSocket(socket);
}

const headers = { 'user-agent': 'watchpost', accept: '*/*', 'accept-encoding': 'identity' };
const target = { secure: false, name: '127.0.0.1', port, path: '/' };
const request = { target, method: 'GET', headers, body: null, sameOrigin: true } as const;

async function ours(socket: Socket): Promise<void> {
  const head = await requestHttp1(socket, {
    request,
    onSend: () => {},
    onSent: () => {},
    onFirstByte: () => {},
    onError: () => {},
  });
  if (head.arrived() === null && head.stream !== null) await once(head.stream().resume(), 'end');
}

async function nodes(socket: Socket): Promise<void> {
  const outgoing = requestOf({ createConnection: () => socket, headers }).end();
  const [message] = (await once(outgoing, 'response')) as [Socket];
  await once(message.resume(), 'end');
}

async function bare(socket: Socket): Promise<void> {
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await once(socket.resume(), 'end');
}

const clients = { 'our client': ours, 'node:http': nodes, 'a bare socket': bare };
const spent = new Map<string, number[]>(Object.keys(clients).map((name) => [name, []]));
for (let slice = 0; slice < slices; slice += 1) {
  for (const [name, client] of Object.entries(clients)) {
    const start = process.cpuUsage();
    for (let batch = 0; batch < batches; batch += 1) {
      await Promise.all(Array.from({ length: atOnce }, async () => withSocket(client)));
    }
    const { user, system } = process.cpuUsage(start);
    spent.get(name)?.push((user + system) / atOnce / batches);
  }
}
child.kill();
const quantile = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
printTable(
  ['exchange', 'CPU us, least', 'p25', 'median'],
  [...spent].map(([name, figures]) => {
    const sorted = figures.slice(discarded).toSorted((a, b) => a - b);
    return [name, ...[0, 0.25, 0.5].map((share) => figure(quantile(sorted, share)))];
  }),
);
