import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';

export interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly host: string;
  /** Connections that are open now. */
  connections(): Promise<number>;
}

/** A TCP server on loopback that does what it is told with each connection. */
export async function tcpServer(
  onConnection: (socket: Socket) => void,
  address = '127.0.0.1',
  port = 0,
): Promise<Listening> {
  return listen(createServer({ allowHalfOpen: true }, onConnection), address, port);
}

export async function tlsServer(
  options: TlsOptions,
  onConnection: (socket: TLSSocket) => void,
  address = '127.0.0.1',
  port = 0,
): Promise<Listening> {
  const server = createTlsServer(options, onConnection);
  server.on('tlsClientError', () => {});
  return listen(server, address, port);
}

// Below those that a kernel gives to whoever asks for any: what is free now stays so until it is used.
const closedPorts = { from: 16_000, to: 32_000 } as const;
const given = new Set<number>();

/** A port that nobody listens on, another one each time. */
export async function closedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(closedPorts.from, closedPorts.to);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  try {
    const server = await listen(createServer(), '127.0.0.1', port);
    await server[Symbol.asyncDispose]();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}

async function listen(server: Server, address: string, port = 0): Promise<Listening> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
  });
  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  return {
    port: bound.port,
    host: address.includes(':') ? `[${address}]:${bound.port}` : `${address}:${bound.port}`,
    connections: async () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
