import type { Random } from '#kernel/random.ts';
import { messageOf } from '#kernel/errors.ts';
import type { AddressFamily } from '../address.ts';
import { describeError, linux, type PingLibc } from '../ping/libc.ts';
import { sharedReceiveBuffer, type ReceivedPacket } from '../ping/receive-buffer.ts';
import { createShapedSend } from '../ping/shape.ts';
import { sameHost } from '../ping/socket-address.ts';
import {
  ipHeaderLength,
  kindOfNotice,
  mtuOf,
  type OpenedPathSocket,
  type ProbeAnswer,
  type PathSocket,
  probeSizes,
  sendTrying,
} from './probe-socket.ts';
import { bindTo, setOption, socketAddress } from './socket-options.ts';

export interface DatagramProbeOptions {
  readonly address: string;
  readonly family: AddressFamily;
  readonly port: number;
  readonly localAddress: string | undefined;
  /** The source port; another one is used if it is not free. */
  readonly sourcePort: number;
  readonly random: Random;
}

const headerLength = 8;
const tokenAt = 2;
const tokenLength = 8;
const readings = 64;

/** Opens a UDP socket for probes to one port. ICMP errors come through its error queue (IP_RECVERR, ip(7)). */
export function openDatagramProbes(libc: PingLibc, options: DatagramProbeOptions): OpenedPathSocket {
  const { family, localAddress, sourcePort } = options;
  const domain = family === 4 ? linux.AF_INET : linux.AF_INET6;
  const fd = libc.socket(domain, linux.SOCK_DGRAM | linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC, 0);
  if (fd === -1) return { ok: false, reason: `no UDP socket: ${describeError(libc.errno())}` };
  try {
    setOption(libc, fd, linux.SOL_SOCKET, linux.SO_TIMESTAMPNS, 1);
    if (family === 4) setOption(libc, fd, linux.SOL_IP, linux.IP_RECVERR, 1);
    else setOption(libc, fd, linux.SOL_IPV6, linux.IPV6_RECVERR, 1);
    bindTo(libc, fd, { family, localAddress, port: sourcePort });
  } catch (error) {
    libc.close(fd);
    return { ok: false, reason: messageOf(error) };
  }
  return { ok: true, socket: wrap(libc, fd, options) };
}

function wrap(libc: PingLibc, fd: number, { address, family, port, random }: DatagramProbeOptions): PathSocket {
  const buffer = sharedReceiveBuffer(libc);
  const destination = socketAddress(address, family, port);
  const sendShaped = createShapedSend(libc, fd, family);
  const token = random.bytes(tokenLength);
  let closed = false;

  const packetOf = (probe: number, size: number) => {
    const packet = new Uint8Array(new ArrayBuffer(Math.max(size - ipHeaderLength[family] - headerLength, tokenAt)));
    new DataView(packet.buffer).setUint16(0, probe);
    packet.set(token.subarray(0, packet.length - tokenAt), tokenAt);
    return packet;
  };

  // A router need not quote more than the header of the datagram (RFC 792): then it is not known which probe it is about.
  function probeOf(bytes: Uint8Array): number | null | undefined {
    if (bytes.length < tokenAt) return null;
    const quoted = bytes.subarray(tokenAt, tokenAt + tokenLength);
    if (!quoted.every((byte, index) => byte === token[index])) return undefined;
    return ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  }

  function answerOf(received: ReceivedPacket): ProbeAnswer | null {
    const { notice, stampMs, peer } = received;
    if (!sameHost(peer, destination, family) || peer[2] !== destination[2] || peer[3] !== destination[3]) return null;
    if (notice === null) return { probe: null, address, kind: 'reply', stampMs };
    const kind = notice.fromNetwork ? kindOfNotice(family, notice) : null;
    const probe = probeOf(received.bytes);
    if (kind === null || probe === undefined) return null;
    return { probe, address: notice.by, kind, stampMs, ...mtuOf(notice) };
  }

  function read(flags: number, onAnswer: (answer: ProbeAnswer) => void): void {
    for (let round = 0; round < readings; round += 1) {
      const count = buffer.take(fd, flags);
      // Any other error is that of one probe: its details are in the error queue.
      if (count === -1 && libc.errno() === linux.EAGAIN) return;
      for (const received of buffer.packets.slice(0, Math.max(count, 0))) {
        const answer = answerOf(received);
        if (answer !== null) onAnswer(answer);
      }
      if (count !== -1 && count < buffer.packets.length) return;
    }
  }

  return {
    send(probe, ttl, size) {
      if (closed) return { ok: false, errno: linux.EBADF };
      const packet = packetOf(probe, size);
      const shape = size > probeSizes.small ? { ttl, dontFragment: true as const } : { ttl };
      return sendTrying(() => {
        const wallMs = buffer.wallMs();
        const send = () => libc.sendto(fd, packet, packet.length, linux.MSG_DONTWAIT, destination, destination.length);
        if (sendShaped(shape, send) !== -1) return { ok: true, wallMs };
        return { ok: false, errno: libc.errno() };
      });
    },
    drain(onAnswer) {
      if (closed) return;
      read(linux.MSG_ERRQUEUE, onAnswer);
      read(0, onAnswer);
    },
    wallMs: () => buffer.wallMs(),
    close() {
      if (closed) return;
      closed = true;
      libc.close(fd);
    },
  };
}
