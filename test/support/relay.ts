import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP relay in front of a port of loopback that can stop forwarding without closing anything. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** From now on nothing gets through on old connections and new ones: in either direction, or no answers of the far side. */
  swallow(which?: 'everything' | 'answers'): void;
  /** From now on it takes nothing more on the connections of now, so that their writers have to wait. */
  hold(): void;
  /** New connections work again; those from before stay dead. */
  mend(): void;
}

/** `port` is one of its own; default: any that is free. */
export async function startRelay(to: number, port = 0): Promise<Relay> {
  const open = new Set<Socket>();
  let swallowing = false;
  let isDeaf = false;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    const link = { dead: swallowing, deaf: isDeaf };
    for (const [from, onto] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => {});
      from.on('data', (chunk) => {
        link.dead ||= swallowing;
        link.deaf ||= isDeaf;
        if (!link.dead && (from === near || !link.deaf)) onto.write(chunk);
      });
      from.on('close', () => {
        open.delete(from);
        link.dead ||= swallowing;
        if (!link.dead) onto.destroy();
      });
    }
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow(which = 'everything') {
      if (which === 'answers') isDeaf = true;
      else swallowing = true;
    },
    hold() {
      for (const socket of open) socket.pause();
    },
    mend() {
      swallowing = false;
      isDeaf = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
