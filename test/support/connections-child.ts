import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { serveWeb } from './web.ts';

// Run in a network namespace where 198.51.100.0/24 is this machine's own: a web server, and clients with an address each. Tells
// as JSON who was answered while an attacker held as many connections as he could.

const server = await serveWeb({
  listen: { host: '0.0.0.0', port: 0 },
  plugins: [async (app) => void app.post('/take', async () => 'taken')],
});
const { port } = server.addr();

async function hold(localAddress: string, count: number, first = ''): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ host: '198.51.100.1', port, localAddress }));
  for (const socket of sockets) socket.on('error', () => {}).resume();
  await Promise.all(sockets.map(async (socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
  for (const socket of sockets) if (first !== '') socket.write(first);
  return sockets;
}

async function isAnswered(host: string, localAddress: string): Promise<boolean> {
  const socket = connect({ host, port, localAddress });
  socket.end('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const answer = await text(socket).catch(() => '');
  return answer.startsWith('HTTP/1.1 200 ');
}

const open = (sockets: readonly Socket[]) => sockets.filter(({ destroyed }) => !destroyed).length;
const told: Record<string, unknown> = {};

const one = await hold('198.51.100.66', 1_000);
told['stranger beside one attacker'] = await isAnswered('198.51.100.1', '198.51.100.7');
told['this machine beside one attacker'] = await isAnswered('127.0.0.1', '127.0.0.1');
told['connections of the attacker'] = open(one);
const many: Socket[] = [];
for (let last = 100; last < 120; last += 1) many.push(...(await hold(`198.51.100.${last}`, 100)));
told['stranger beside many attackers'] = await isAnswered('198.51.100.1', '198.51.100.7');
told['this machine beside many attackers'] = await isAnswered('127.0.0.1', '127.0.0.1');
told['connections of all attackers'] = open([...one, ...many]);
for (const socket of [...one, ...many]) socket.destroy();
const body = 'POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\nx';
const bodies: Socket[] = [];
for (let last = 120; last < 130; last += 1) bodies.push(...(await hold(`198.51.100.${last}`, 100, body)));
const strangers = Array.from({ length: 100 }, (_, index) => `198.51.100.${130 + index}`);
const answers = await Promise.all(strangers.map(async (address) => isAnswered('198.51.100.1', address)));
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
  const localAddress = `198.18.${Math.floor(index / 250)}.${1 + (index % 250)}`;
  const socket = connect({ host: '198.51.100.1', port, localAddress }).on('error', () => {});
  comingBack.add(socket.resume());
  socket.once('close', () => {
    comingBack.delete(socket);
    setTimeout(comeBack, 100, index);
  });
}

const [keepAlive] = (await hold('198.51.100.8', 1)) as [Socket];
const answeredFirst = await isAnsweredOver(keepAlive);
for (let index = 0; index < 850; index += 1) comeBack(index);
// All of them have asked nothing for more than two seconds when others come.
while ([...comingBack].some(({ readyState }) => readyState !== 'open')) await pause(100);
await pause(4_000);
for (let index = 850; index < 1_000; index += 1) comeBack(index);
await pause(2_500);
told['a connection that has asked something, beside 1,000 clients that come back'] =
  answeredFirst && (await isAnsweredOver(keepAlive));
told['a client of that crowd, when it asks something'] = await isAnswered('198.51.100.1', '198.18.0.1');
isOver = true;
for (const socket of comingBack) socket.destroy();
await server.close();
process.stdout.write(JSON.stringify(told));
