import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { capture } from './capture.ts';
import { answerQuestions } from '../tools/processes.ts';

// The targets, in a process of their own, which write down when each of them was connected to. Argument: the port for http; default: a
// free one.

export interface Arrivals {
  readonly ports: { readonly http: number; readonly tcp: number };
  /** Wall time in milliseconds with a fraction, by address, since the last question. */
  readonly at: Readonly<Record<string, readonly number[]>>;
  /** Whether the times are those of the first packet, by the kernel, or those at which the target came to it. */
  readonly isCaptured: boolean;
  /** How late the timers of a process that does nothing else came since the last question, in milliseconds. */
  readonly timerLate: readonly number[];
}

let arrivals: Record<string, number[]> = {};
let isCaptured = false;

function note(address: string, atMs: number): void {
  (arrivals[address] ??= []).push(atMs);
}

// An own clock also shows how late this process comes to what it is told.
function noteAccepted({ localAddress = '' }: Socket): void {
  if (!isCaptured) note(localAddress, performance.timeOrigin + performance.now());
}

const tcp = createServer((socket) => {
  noteAccepted(socket);
  socket.on('error', () => {});
  socket.resume();
}).listen(0, '0.0.0.0', 4_096);
const http = createHttpServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 3 }).end('ok\n');
}).listen(Number(process.argv[2] ?? 0), '0.0.0.0', 4_096);
http.on('connection', noteAccepted);
await Promise.all([once(tcp, 'listening'), once(http, 'listening')]);

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
// A timer that does nothing else shows what the machine itself makes of a due time meanwhile.
let timerLate: number[] = [];
const timerMs = 100;
let timerDue = performance.now() + timerMs;
setTimeout(function tick() {
  const now = performance.now();
  timerLate.push(Math.max(0, now - timerDue));
  timerDue = now + timerMs;
  setTimeout(tick, timerMs);
}, timerMs);

const ports = { http: portOf(http), tcp: portOf(tcp) };
isCaptured = await capture(Object.values(ports), note);
answerQuestions(async (): Promise<Arrivals> => {
  const at = arrivals;
  const late = timerLate;
  arrivals = {};
  timerLate = [];
  return { ports, at, isCaptured, timerLate: late };
});
