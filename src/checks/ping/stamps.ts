import { type Clock, sleep } from '#kernel/clock.ts';
import type { AddressFamily } from '../address.ts';
import { createEchoRequest } from './packet.ts';
import { encodeSocketAddress } from './socket-address.ts';
import type { EchoSocket } from './socket.ts';

const loopback = { 4: '127.0.0.1', 6: '::1' } as const;
// Read so much later than it came, an echo tells by its stamp which of the two moments the kernel wrote down.
const readAfterMs = 4;
const believedMs = 2;
const tries = 500;
const silentTries = 3;

/**
 * Resolves once the kernel stamps packets when they come. The first socket that asks for stamps makes the kernel begin a little
 * later (`net_enable_timestamp`), and until then it writes down when a packet is read: a reply that was not read at once would
 * look half a second slow. Found out by echoes over loopback; if none comes back, or after some two seconds, it gives up.
 */
export async function awaitStamps(socket: EchoSocket, family: AddressFamily, clock: Clock): Promise<void> {
  const request = createEchoRequest(family, socket.identifier ?? 0, new Uint8Array(8));
  request.number(0xffff);
  const destination = encodeSocketAddress(loopback[family], family);
  let heard = 0;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (!socket.send(request.packet, destination, null).ok) return;
    await sleep(clock, readAfterMs, never);
    let stamped = false;
    socket.drain({
      onTaken: () => {},
      onMessage({ stampMs }) {
        heard += 1;
        stamped ||= stampMs !== null && socket.wallMs() - stampMs >= believedMs;
      },
      onNotice: () => {},
      onDeparture: () => {},
    });
    if (stamped || (heard === 0 && attempt + 1 >= silentTries)) return;
  }
}

const never = new AbortController().signal;
