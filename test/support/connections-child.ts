import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { serveWeb } from './web.ts';

// Run in a network namespace where 198.51.100.0/24 and 198.18.0.0/16, or 2001:db8::/32, are this machine's own: a web server, and clients
// with an address each. Tells as JSON who was answered while an attacker held as many connections as he could. The argument is 4 or 6.

interface Addresses {
  readonly any: string;
  readonly loopback: string;
  readonly server: string;
  /** That of a client, of which there are 256, for its connection of that number. */
  readonly clientOf: (number: number, connection: number) => string;
  /** That of one of a crowd of a thousand. */
  readonly oneOfMany: (index: number) => string;
}

const hex = (number: number) => number.toString(16);
const addresses: Readonly<Record<4 | 6, Addresses>> = {
  4: {
    any: '0.0.0.0',
    loopback: '127.0.0.1',
    server: '198.51.100.1',
    clientOf: (number) => `198.51.100.${number}`,
    oneOfMany: (index) => `198.18.${Math.floor(index / 250)}.${1 + (index % 250)}`,
  },
  // A client has 56 bits, as providers assign them, and an address of its own for each connection.
  6: {
    any: '::',
    loopback: '::1',
    server: '2001:db8::1',
    clientOf: (number, connection) => `2001:db8:0:${hex(number * 256 + (connection % 256))}::${hex(connection + 1)}`,
    oneOfMany: (index) => `2001:db8:${hex(1 + Math.floor(index / 256))}:${hex((index % 256) * 256)}::1`,
  },
};
const { any, loopback, server: host, clientOf, oneOfMany } = addresses[process.argv[2] === '6' ? 6 : 4];

const server = await serveWeb({
  listen: { host: any, port: 0 },
  plugins: [async (app) => void app.post('/take', async () => 'taken')],
});
const { port } = server.addr();

async function hold(client: number, count: number, first = ''): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, (_, connection) =>
    connect({ host, port, localAddress: clientOf(client, connection) }),
  );
  for (const socket of sockets) socket.on('error', () => {}).resume();
  await Promise.all(sockets.map(async (socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  for (const socket of sockets) if (first !== '') socket.write(first);
  return sockets;
}

async function isAnswered(localAddress: string): Promise<boolean> {
  const socket = connect({ host: localAddress === loopback ? loopback : host, port, localAddress });
  socket.end('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const answer = await text(socket).catch(() => '');
  return answer.startsWith('HTTP/1.1 200 ');
}

const open = (sockets: readonly Socket[]) => sockets.filter(({ destroyed }) => !destroyed).length;
const told: Record<string, unknown> = {};

const one = await hold(66, 1_000);
told['stranger beside one attacker'] = await isAnswered(clientOf(7, 0));
told['this machine beside one attacker'] = await isAnswered(loopback);
told['connections of the attacker'] = open(one);
const many: Socket[] = [];
for (let last = 100; last < 120; last += 1) many.push(...(await hold(last, 100)));
told['stranger beside many attackers'] = await isAnswered(clientOf(7, 0));
told['this machine beside many attackers'] = await isAnswered(loopback);
told['connections of all attackers'] = open([...one, ...many]);
for (const socket of [...one, ...many]) socket.destroy();
const body = 'POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\nx';
const bodies: Socket[] = [];
for (let last = 120; last < 130; last += 1) bodies.push(...(await hold(last, 100, body)));
const strangers = Array.from({ length: 100 }, (_, index) => clientOf(130 + index, 0));
const answers = await Promise.all(strangers.map(isAnswered));
told['strangers beside bodies that never end'] = answers.filter(Boolean).length;
for (const socket of bodies) socket.destroy();

const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** Whether a connection, which stays open, is answered once more. */
async function isAnsweredOver(socket: Socket): Promise<boolean> {
  if (socket.destroyed) return false;
  socket.write(request);
  const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
  return String(answer).startsWith('HTTP/1.1 200 ');
}

let isOver = false;
const comingBack = new Set<Socket>();
/** Connects without asking anything, and comes back when it is cut. */
function comeBack(index: number): void {
  if (isOver) return;
  const socket = connect({ host, port, localAddress: oneOfMany(index) }).on('error', () => {});
  comingBack.add(socket.resume());
  socket.once('close', () => {
    comingBack.delete(socket);
    setTimeout(comeBack, 100, index);
  });
}

const [keepAlive] = (await hold(8, 1)) as [Socket];
const answeredFirst = await isAnsweredOver(keepAlive);
for (let index = 0; index < 850; index += 1) comeBack(index);
// All of them have asked nothing for more than two seconds when others come.
while ([...comingBack].some(({ readyState }) => readyState !== 'open')) await pause(100);
await pause(4_000);
for (let index = 850; index < 1_000; index += 1) comeBack(index);
await pause(2_500);
told['a connection that has asked something, beside 1,000 clients that come back'] =
  answeredFirst && (await isAnsweredOver(keepAlive));
told['a client of that crowd, when it asks something'] = await isAnswered(oneOfMany(0));
isOver = true;
for (const socket of comingBack) socket.destroy();
await server.close();
process.stdout.write(JSON.stringify(told));
