import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { answerQuestions } from '../tools/processes.ts';

// The targets, in a process of their own, which write down when each of them was connected to.

export interface Arrivals {
  readonly ports: { readonly http: number; readonly tcp: number };
  /** Wall time in milliseconds with a fraction, by address, since the last question. */
  readonly at: Readonly<Record<string, readonly number[]>>;
}

let arrivals: Record<string, number[]> = {};

function note(socket: Socket): void {
  const { localAddress = '' } = socket;
  (arrivals[localAddress] ??= []).push(performance.timeOrigin + performance.now());
}

const tcp = createServer((socket) => {
  note(socket);
  socket.on('error', () => {});
  socket.resume();
}).listen(0, '0.0.0.0', 4_096);
const http = createHttpServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 3 }).end('ok\n');
}).listen(0, '0.0.0.0', 4_096);
http.on('connection', note);
await Promise.all([once(tcp, 'listening'), once(http, 'listening')]);

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
answerQuestions(async (): Promise<Arrivals> => {
  const at = arrivals;
  arrivals = {};
  return { ports: { http: portOf(http), tcp: portOf(tcp) }, at };
});
