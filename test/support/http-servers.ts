import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A server on a port of its own at 127.0.0.1 that knows its connections. Disposing it cuts them. */
export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** Connections that are open now, as the server sees it. */
  readonly open: ReadonlySet<Socket>;
  /** Resolves with the next connection. */
  connection(): Promise<Socket>;
  /** Resolves once the other side closed every connection. */
  drained(): Promise<void>;
}

async function listen(server: Server): Promise<TestServer> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      if (open.size === 0) server.emit('drained');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    open,
    async connection() {
      const [socket] = (await once(server, 'connection')) as [Socket];
      return socket;
    },
    async drained() {
      if (open.size > 0) await once(server, 'drained');
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An HTTP server. */
export async function serveHttp(listener: RequestListener): Promise<TestServer> {
  return listen(createHttpServer(listener));
}

/** An HTTPS server with HTTP/1.1 alone. */
export async function serveHttps(options: ServerOptions, listener: RequestListener): Promise<TestServer> {
  const server = createHttpsServer(options, listener);
  server.on('tlsClientError', () => {});
  return listen(server);
}

/** An HTTPS server that wants HTTP/2 and takes HTTP/1.1. */
export async function serveHttp2(
  options: ServerOptions,
  listener: Parameters<typeof createSecureServer>[1],
): Promise<TestServer> {
  const server = createSecureServer({ ...options, allowHTTP1: true }, listener);
  server.on('sessionError', () => {});
  return listen(server);
}

/** A TCP server that says what `onSocket` says and reads all it gets. */
export async function serveRaw(onSocket: (socket: Socket) => void): Promise<TestServer> {
  return listen(createTcpServer((socket) => onSocket(socket.resume())));
}

/** Lets the event loop turn until what was written on loopback has arrived. */
export async function arrived(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await turn();
}

/** A TCP server that answers the first bytes it gets with these texts, then leaves the connection open, or ends it. */
export async function serveText(...texts: readonly string[]): Promise<TestServer> {
  return serveRaw((socket) => {
    socket.once('data', () => {
      for (const text of texts) socket.write(text, 'latin1');
      socket.end();
    });
  });
}
