import type { Random } from '#kernel/random.ts';
import type { AddressFamily } from '../address.ts';
import type { PingLibc } from '../ping/libc.ts';
import { createEchoRequest, readEchoReply, readEchoRequest } from '../ping/packet.ts';
import { type ReceivedPacket, sharedReceiveBuffer } from '../ping/receive-buffer.ts';
import { encodeSocketAddress, sameHost } from '../ping/socket-address.ts';
import { type EchoSocket, openEchoSocket } from '../ping/socket.ts';
import {
  ipHeaderLength,
  kindOfNotice,
  mtuOf,
  type OpenedPathSocket,
  type PathSocket,
  probeSizes,
  sendTrying,
} from './probe-socket.ts';

export interface EchoProbeOptions {
  readonly address: string;
  readonly family: AddressFamily;
  readonly localAddress: string | undefined;
  readonly random: Random;
}

const headerLength = 8;
const numberAt = 6;
const balanceAt = 8;
const tokenAt = 10;
const tokenLength = 8;

/** Opens a socket for echo requests to one address: a datagram one, or else a raw one, as `ping` does. */
export function openEchoProbes(
  libc: PingLibc,
  { address, family, localAddress, random }: EchoProbeOptions,
): OpenedPathSocket {
  const [high = 0, low = 0] = random.bytes(2);
  const opened = openEchoSocket(libc, {
    family,
    localAddress,
    identifier: (high << 8) | low,
    buffer: sharedReceiveBuffer(libc),
  });
  if (!opened.ok) return opened;
  return { ok: true, socket: wrap(opened.socket, address, random.bytes(tokenLength)) };
}

function wrap(socket: EchoSocket, address: string, token: Uint8Array): PathSocket {
  const { family } = socket;
  const destination = encodeSocketAddress(address, family);
  const packetOf = (size: number) => {
    const payload = new Uint8Array(new ArrayBuffer(Math.max(size - ipHeaderLength[family] - headerLength, tokenAt)));
    // The balance of sequence number 0: with it, the checksum stays the same for all.
    payload.fill(0xff, 0, 2);
    payload.set(token, tokenAt - headerLength);
    const request = createEchoRequest(family, socket.identifier ?? 0, payload);
    request.number(0);
    return request.packet;
  };
  const small = packetOf(probeSizes.small);

  // Routers choose among paths by the first words of an ICMP message too, so that the checksum must not vary (paris-traceroute).
  function numbered(packet: Uint8Array, probe: number): Uint8Array {
    const view = new DataView(packet.buffer);
    view.setUint16(numberAt, probe);
    view.setUint16(balanceAt, 0xffff - probe);
    return packet;
  }

  const isOurs = (payload: Uint8Array, { peer }: ReceivedPacket) => {
    if (!sameHost(peer, destination, family)) return false;
    // A router may quote no more than the header.
    const quoted = payload.subarray(tokenAt - headerLength, tokenAt - headerLength + tokenLength);
    return quoted.every((byte, index) => byte === token[index]);
  };
  const hasOurIdentifier = (identifier: number) => socket.identifier === null || socket.identifier === identifier;

  return {
    send(probe, ttl, size) {
      const isLarge = size > probeSizes.small;
      const packet = numbered(isLarge ? packetOf(size) : small, probe);
      return sendTrying(() => socket.send(packet, destination, isLarge ? { ttl, dontFragment: true } : { ttl }));
    },
    drain(onAnswer) {
      socket.drain({
        onTaken: () => {},
        onDeparture: () => {},
        onMessage(received) {
          const echo = readEchoReply(family, received.bytes);
          if (echo === null || !hasOurIdentifier(echo.identifier) || !isOurs(echo.payload, received)) return;
          onAnswer({ probe: echo.sequence, address, kind: 'reply', stampMs: received.stampMs });
        },
        onNotice(received) {
          const { notice, stampMs } = received;
          const echo = readEchoRequest(family, received.bytes);
          if (echo === null || notice === null || !notice.fromNetwork) return;
          if (!hasOurIdentifier(echo.identifier) || !isOurs(echo.payload, received)) return;
          const kind = kindOfNotice(family, notice);
          if (kind === null) return;
          onAnswer({ probe: echo.sequence, address: notice.by, kind, stampMs, ...mtuOf(notice) });
        },
      });
    },
    wallMs: () => socket.wallMs(),
    close: () => socket.close(),
  };
}
