import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Issued } from '../../support/certificates.ts';

/** What a target does with a request. `slow` answers after two seconds instead of one. */
export type Behaviour = 'up' | 'refuse' | 'silent' | 'error' | 'reset' | 'steady' | 'slow' | 'expiring';

export interface Target extends AsyncDisposable {
  turn(behaviour: Behaviour): Promise<void>;
}

export interface TargetOptions {
  readonly address: string;
  /** With them it serves HTTPS: the certificate of every day, and the one that ends soon. */
  readonly certificates?: { readonly good: Issued; readonly expiring: Issued };
}

const delayMs: Partial<Record<Behaviour, number>> = { steady: 1_000, slow: 2_000 };

/** A web server on port 80 or 443 of its address. */
export async function startTarget({ address, certificates }: TargetOptions): Promise<Target> {
  let behaviour: Behaviour = 'up';
  const sockets = new Set<Socket>();

  function answer(request: IncomingMessage, response: ServerResponse): void {
    if (behaviour === 'silent') return;
    if (behaviour === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    setTimeout(() => {
      response.writeHead(behaviour === 'error' ? 503 : 200, { 'content-type': 'text/plain', connection: 'close' });
      response.end(behaviour === 'error' ? 'out of order\n' : 'fine\n');
    }, delayMs[behaviour] ?? 0);
  }

  async function open(): Promise<Server | TlsServer> {
    const server = certificates === undefined ? createServer(answer) : createTlsServer(certificates.good, answer);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    });
    server.listen(certificates === undefined ? 80 : 443, address);
    await once(server, 'listening');
    return server;
  }

  async function close(closing: Server | TlsServer): Promise<void> {
    const closed = once(closing, 'close');
    closing.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  let server: Server | TlsServer | null = await open();
  return {
    async turn(next) {
      behaviour = next;
      if (next === 'refuse' && server !== null) {
        await close(server);
        server = null;
      }
      if (next !== 'refuse') server ??= await open();
      if (certificates !== undefined && server !== null && 'setSecureContext' in server)
        server.setSecureContext(next === 'expiring' ? certificates.expiring : certificates.good);
    },
    async [Symbol.asyncDispose]() {
      if (server !== null) await close(server);
    },
  };
}
