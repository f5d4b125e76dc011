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
  /** Paths that were asked for since the start. */
  readonly asked: ReadonlySet<string>;
  /** Milliseconds within this span, since 1970, in which requests got no proper answer. */
  downMs(from: number, to: number): number;
}

export interface TargetOptions {
  readonly address: string;
  /** With them it serves HTTPS: the certificate of every day, and the one that ends soon. */
  readonly certificates?: { readonly good: Issued; readonly expiring: Issued };
}

const failures: ReadonlySet<Behaviour> = new Set(['refuse', 'silent', 'error', 'reset']);
const delayMs: Partial<Record<Behaviour, number>> = { steady: 1_000, slow: 2_000 };

/** A web server on port 80 or 443 of its address. */
export async function startTarget({ address, certificates }: TargetOptions): Promise<Target> {
  let behaviour: Behaviour = 'up';
  const sockets = new Set<Socket>();
  const asked = new Set<string>();
  const changes: { readonly at: number; readonly isDown: boolean }[] = [];

  function answer(request: IncomingMessage, response: ServerResponse): void {
    asked.add(request.url ?? '');
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
      changes.push({ at: Date.now(), isDown: failures.has(next) });
      if (next === 'refuse' && server !== null) {
        await close(server);
        server = null;
      }
      if (next !== 'refuse') server ??= await open();
      if (certificates !== undefined && server !== null && 'setSecureContext' in server)
        server.setSecureContext(next === 'expiring' ? certificates.expiring : certificates.good);
    },
    asked,
    downMs(from, to) {
      const within = (at: number) => Math.min(Math.max(at, from), to);
      return changes.reduce((sum, { at, isDown }, index) => {
        const until = changes[index + 1]?.at ?? to;
        return isDown ? sum + within(until) - within(at) : sum;
      }, 0);
    },
    async [Symbol.asyncDispose]() {
      if (server !== null) await close(server);
    },
  };
}
