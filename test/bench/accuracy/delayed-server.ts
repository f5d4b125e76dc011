import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from '../tools/processes.ts';

// Answers after a delay that is known, in a process of its own.

export interface DelayedServer {
  readonly port: number;
}

const delayMs = Number(process.argv[2]);
// Timers come late: the last of the delay is spun through.
const spinMs = 3;

const server = createServer((_, response) => {
  const until = performance.now() + delayMs;
  setTimeout(() => {
    while (performance.now() < until);
    response.writeHead(200, { 'content-length': 3 }).end('ok\n');
  }, delayMs - spinMs);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
answerQuestions(async (): Promise<DelayedServer> => ({ port }));
