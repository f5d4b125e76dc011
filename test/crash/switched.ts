import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A TCP server on a port of its own that is there or not, as it is told. */
export interface Switched extends AsyncDisposable {
  readonly port: number;
  readonly isOn: boolean;
  turn(on: boolean): Promise<void>;
}

export async function startSwitched(): Promise<Switched> {
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let port = 0;

  async function turn(on: boolean): Promise<void> {
    if (on === (server !== null)) return;
    if (server !== null) {
      const closing = server;
      server = null;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => closing.close(resolve));
      return;
    }
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }

  await turn(true);
  return {
    get port() {
      return port;
    },
    get isOn() {
      return server !== null;
    },
    turn,
    [Symbol.asyncDispose]: async () => turn(false),
  };
}
