import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import koffi from 'koffi';
import { expect, test } from 'vitest';
import { closeSocket, openConnection } from '#checks/connection.ts';
import { type LimitReceiving, limitedBytes, loadReceiveLimit } from '#checks/tcp-info.ts';
import { systemClock } from '#kernel/clock.ts';
import { checkHttp, loopbackGate } from '../../support/http-check.ts';
import { eventually } from '../../support/program.ts';

// What a target can make a node receive, by the target's own kernel: the bytes that were acknowledged (tcp_info).

const isLinux = process.platform === 'linux';
const bytesAcknowledgedAt = 120;

function acknowledgedBy({ peer, info }: { readonly peer: Socket; readonly info: Buffer }): number {
  const getsockopt = koffi.load(null).func('int getsockopt(int, int, int, void *, void *)');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(info.length);
  const handle = Reflect.get(peer, '_handle') as { readonly fd: number } | null;
  if (handle === null || getsockopt(handle.fd, 6, 11, info, length) !== 0) return 0;
  return Number(info.readBigUInt64LE(bytesAcknowledgedAt));
}

/** A server that sends for as long as it can, and looks at what arrived every few milliseconds. */
async function startEndless(head: string) {
  const sockets: Socket[] = [];
  const info = Buffer.alloc(256);
  let most = 0;
  const look = () => {
    for (const peer of sockets) most = Math.max(most, acknowledgedBy({ peer, info }));
  };
  const server = createServer((socket) => {
    sockets.push(socket);
    const send = () => {
      while (!socket.destroyed && socket.write('x'.repeat(10_000)));
      look();
    };
    socket.on('error', () => {}).on('drain', send);
    socket.write(head);
    send();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timer = setInterval(look, 2);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    acknowledged: () => most,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const readBytes = 4_000_000;

/** How much the kernel takes in of an endless answer after 4 MB were read and nobody reads on. */
async function receivedAfterReading(limitReceiving: LimitReceiving): Promise<number> {
  await using server = await startEndless('');
  const pinned = { ok: true, address: '127.0.0.1', family: 4, addresses: ['127.0.0.1'], seconds: 0 } as const;
  const connection = await openConnection(pinned, server.port, {
    environment: { clock: systemClock, localAddress: {} },
    gate: loopbackGate(),
    readHandshake: () => null,
    readArrivalAge: () => null,
    readSentAge: () => null,
    limitReceiving,
    signal: new AbortController().signal,
  });
  if (!connection.ok) throw new Error(connection.failure.message);
  const { socket } = connection;
  let read = 0;
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read < readBytes) return;
      socket.pause();
      resolve();
    });
  });
  let last = -1;
  await eventually(10_000, () => {
    const now = server.acknowledged();
    const isSettled = now === last;
    last = now;
    expect(isSettled).toBe(true);
  });
  await closeSocket(socket);
  return last - read;
}

test.runIf(isLinux)('the kernel receives little more than is read', async () => {
  // What the socket's stream read ahead, and the buffer that the kernel begins with (tcp_rmem).
  expect(await receivedAfterReading(await loadReceiveLimit())).toBeLessThanOrEqual(4 * limitedBytes);
  // Otherwise the buffer grows with what is read: that is what is prevented. It grows only while this process reads fast (tcp_moderate_rcvbuf).
  await eventually(30_000, async () => {
    expect(await receivedAfterReading(() => {})).toBeGreaterThan(4 * limitedBytes);
  });
});

test.runIf(isLinux)('a stranger makes a node receive little more of an endless page than it reads', async () => {
  for (let count = 0; count < 5; count += 1) {
    await using server = await startEndless('HTTP/1.1 200 OK\r\n\r\n');
    const outcome = await checkHttp(`127.0.0.1:${server.port}`, { max_body: '64KiB' });
    expect(outcome).toMatchObject({ status: 'up', detail: { body_bytes: 65_536, body_complete: false } });
    expect(server.acknowledged()).toBeLessThanOrEqual(4 * limitedBytes);
  }
});
