import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real HTTP server that can be stopped and started again on the same port. */
export interface HttpTarget extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** How many requests it has answered. */
  readonly requests: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startHttpTarget(host = '127.0.0.1'): Promise<HttpTarget> {
  let requests = 0;
  let port = 0;
  let server: Server | null = null;

  async function start(): Promise<void> {
    server = createServer((_, response) => {
      requests += 1;
      response.end('fine');
    }).listen(port, host);
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  }

  async function stop(): Promise<void> {
    const stopping = server;
    server = null;
    if (stopping === null) return;
    const closed = once(stopping, 'close');
    stopping.close();
    stopping.closeAllConnections();
    await closed;
  }

  await start();
  return {
    port,
    url: `http://${host}:${port}/`,
    get requests() {
      return requests;
    },
    start,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
