import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server } from 'node:net';
import type { Clock } from '#kernel/clock.ts';

/** When something happens in the shop, in milliseconds after its start. */
export interface DemoTimes {
  readonly outageAfterMs: number;
  readonly outageForMs: number;
  /** From the end of the outage on. */
  readonly slowAfterMs: number;
  readonly slowForMs: number;
}

/** Servers on free ports of loopback, of which one fails for a while, a second because of it, and a third is slow later. */
export interface DemoShop extends AsyncDisposable {
  readonly databasePort: number;
  readonly shopPort: number;
  readonly searchPort: number;
}

const slowMs = 900;

export async function openDemoShop(clock: Clock, times: DemoTimes): Promise<DemoShop> {
  await using stack = new AsyncDisposableStack();
  let hasDatabase = true;
  let isSlow = false;
  const at = (ms: number, action: () => void) => void stack.use(clock.after(ms, action));

  let database = await openDatabase(0);
  const databasePort = portOf(database);
  const shop = await open(
    createHttpServer((_, response) => {
      const body = hasDatabase ? { ok: true } : { ok: false, reason: 'no connection to the database' };
      response.writeHead(hasDatabase ? 200 : 503, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  stack.defer(async () => close(shop));
  const search: RequestListener = (_, response) => {
    const timer = clock.after(isSlow ? slowMs : 0, () => void response.end('found 3 things\n'));
    response.once('close', () => timer[Symbol.dispose]());
  };
  const searchServer = await open(createHttpServer(search));
  stack.defer(async () => close(searchServer));
  stack.defer(async () => close(database));

  const recovery = times.outageAfterMs + times.outageForMs;
  at(times.outageAfterMs, () => {
    hasDatabase = false;
    void close(database);
  });
  at(recovery, () => {
    hasDatabase = true;
    // Something else may have taken the port meanwhile: then the outage goes on.
    void openDatabase(databasePort).then(
      (server) => (database = server),
      () => (hasDatabase = false),
    );
  });
  at(recovery + times.slowAfterMs, () => (isSlow = true));
  at(recovery + times.slowAfterMs + times.slowForMs, () => (isSlow = false));
  const opened = stack.move();
  return {
    databasePort,
    shopPort: portOf(shop),
    searchPort: portOf(searchServer),
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server of the demo has no port');
  return address.port;
}

async function openDatabase(port: number): Promise<Server> {
  return open(
    createServer((socket) => {
      // The check that connected has ended; it reports what it saw.
      socket.on('error', () => socket.destroy()).end();
    }),
    port,
  );
}

async function open<Any extends Server>(server: Any, port = 0): Promise<Any> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function close(server: Server & { closeAllConnections?: () => void }): Promise<void> {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections?.();
  await once(server, 'close');
}
