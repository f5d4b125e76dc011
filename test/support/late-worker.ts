import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { LateServerOptions, LateWorkerData } from './late-server.ts';

// Answers late, however busy the thread of the test is, and writes down when it has done what.
const { times: moments, parts: sent, options } = workerData as LateWorkerData;
const times = new Float64Array(moments);
const parts = new Int32Array(sent);
const { late, delaysMs } = options;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
const tell = (message: number | 'asked') => parentPort?.postMessage(message);
// The clock of the machine, which all threads share.
const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

function noteRequest(): void {
  times[0] = monotonicMs();
  tell('asked');
}

async function notePart(send: () => Promise<unknown>): Promise<void> {
  const count = Atomics.load(parts, 0);
  times[1 + 2 * count] = monotonicMs();
  await send();
  times[2 + 2 * count] = monotonicMs();
  Atomics.add(parts, 0, 1);
  Atomics.notify(parts, 0);
}

/** What the answers of HTTP/1.1 and HTTP/2 have in common. */
interface LateResponse {
  write(text: string, done: () => void): unknown;
  end(): unknown;
}

async function answer(response: LateResponse, socket?: Socket): Promise<void> {
  const write = async (text: string) => new Promise<void>((resolve) => response.write(text, resolve));
  if (late === 'handshake') {
    await write('done\n');
    return void response.end();
  }
  noteRequest();
  for (const [index, ms] of delaysMs.entries()) {
    await pause(ms);
    const isEnd = late === 'end' && index === delaysMs.length - 1;
    if (!isEnd) await notePart(async () => write(`part ${index}\n`));
    else if (socket !== undefined) {
      await notePart(async () => {
        const finished = once(socket, 'finish');
        response.end();
        await finished;
      });
    }
  }
  if (late !== 'end') response.end();
}

function createLateServer({ protocol, cert, key }: LateServerOptions) {
  if (protocol === 'http2') return createSecureServer({ cert, key }, (_, response) => void answer(response));
  if (protocol === 'https') return createHttpsServer({ cert, key }, (_, response) => void answer(response));
  return createHttpServer((_, response) => {
    // Without chunks the body ends with the connection.
    if (late === 'end') response.useChunkedEncodingByDefault = false;
    void answer(response, response.socket ?? undefined);
  });
}

async function accept(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  if (late !== 'handshake') return void server.emit('connection', socket);
  // With what the client says first: its thread is held up from then on.
  await once(socket, 'readable');
  noteRequest();
  await pause(delaysMs[0]);
  await notePart(async () => {
    server.emit('connection', socket);
    while (socket.bytesWritten === 0 && !socket.destroyed) await pause(1);
  });
}

const server = createLateServer(options);
// In front of it, because it sees a connection before TLS does.
const listener = createServer({ noDelay: true }, (socket) => void accept(socket));
listener.listen(0, '127.0.0.1', () => {
  const address = listener.address();
  if (address !== null && typeof address === 'object') tell(address.port);
});
