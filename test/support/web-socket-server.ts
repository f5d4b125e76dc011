import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Issued } from './certificates.ts';

interface Running extends AsyncDisposable {
  readonly port: number;
  readonly headers: readonly Record<string, unknown>[];
}

/** A WebSocket server, which chooses the protocol `chat` where it is offered. */
export async function webSocketServer(
  talk: (socket: WebSocket) => void,
  secured: Issued | null = null,
): Promise<Running> {
  const web = secured === null ? createHttpServer() : createHttpsServer({ ...secured });
  const server = new WebSocketServer({
    server: web,
    handleProtocols: (offered) => (offered.has('chat') ? 'chat' : false),
  });
  const headers: Record<string, unknown>[] = [];
  server.on('connection', (socket, request) => {
    headers.push(request.headers);
    talk(socket);
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  // A server that was told to listen on a port has an address with one.
  const { port } = web.address() as AddressInfo;
  return {
    port,
    headers,
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      server.close();
      web.close();
      web.closeAllConnections();
      await once(web, 'close');
    },
  };
}

/** Says again what it hears. */
export const echo = (socket: WebSocket) =>
  void socket.on('message', (data: Buffer) => socket.send(`you said ${data.toString('utf8')}`));
