import { messageOf } from '#kernel/errors.ts';
import type { AddressFamily } from '../address.ts';
import { describeError, type PingLibc, linux } from './libc.ts';
import { createReceiveBuffer, type ReceiveBuffer, type ReceivedPacket } from './receive-buffer.ts';
import { stripIpv4Header } from './packet.ts';
import { createShapedSend, type Shape } from './shape.ts';
import { encodeSocketAddress } from './socket-address.ts';

/** An ICMP socket of one family, shared by all pings of a node. */
export interface EchoSocket {
  readonly family: AddressFamily;
  /** The identifier that our requests carry and replies must have; null if the kernel sets and checks it. */
  readonly identifier: number | null;
  /** Sends without waiting. */
  send(packet: Uint8Array, destination: Uint8Array, shape: Shape | null): DatagramSend;
  /** The wall clock that the kernel's stamps are on, in milliseconds. */
  wallMs(): number;
  /** Reports what has arrived since the last call, without waiting for more. */
  drain(listener: EchoListener): void;
  close(): void;
}

type DatagramSend =
  | {
      readonly ok: true;
      /** The name of the packet in the report of its departure. */
      readonly departure: number;
      /** The wall clock right before. */
      readonly wallMs: number;
    }
  | { readonly ok: false; readonly errno: number };

/** Callbacks for arrivals. A packet is valid until the call returns. */
export interface EchoListener {
  /** Everything reported from here on has been received by now. */
  onTaken(): void;
  /** An ICMP message; on a raw socket it may belong to any process. */
  onMessage(received: ReceivedPacket): void;
  /** An ICMP error about a request; on a raw socket it may belong to any process. */
  onNotice(received: ReceivedPacket): void;
  /** When a packet was handed to the network device; before any answer to it. Not every device tells. */
  onDeparture(departure: number, atMs: number): void;
}

export interface SocketOptions {
  readonly family: AddressFamily;
  readonly localAddress: string | undefined;
  /** The identifier to use if the kernel gives none. */
  readonly identifier: number;
  /** Memory to receive into, if it shares it with others. */
  readonly buffer?: ReceiveBuffer;
}

export type OpenedSocket =
  | { readonly ok: true; readonly socket: EchoSocket }
  | { readonly ok: false; readonly reason: string };

/**
 * Opens a datagram ICMP socket (`icmp(7)`, `net.ipv4.ping_group_range`) or, if that is refused, a raw one, which takes
 * CAP_NET_RAW. Never throws for lack of rights. ICMP errors come through the socket's error queue (IP_RECVERR) in both cases:
 * the kernel matches them to the socket, and the quoted request tells the echo they are about.
 */
export function openEchoSocket(libc: PingLibc, options: SocketOptions): OpenedSocket {
  const { family, localAddress } = options;
  const domain = family === 4 ? linux.AF_INET : linux.AF_INET6;
  const protocol = family === 4 ? linux.IPPROTO_ICMP : linux.IPPROTO_ICMPV6;
  const flags = linux.SOCK_NONBLOCK | linux.SOCK_CLOEXEC;
  let raw = false;
  let fd = libc.socket(domain, linux.SOCK_DGRAM | flags, protocol);
  const refusal = fd === -1 ? describeError(libc.errno()) : '';
  if (fd === -1) {
    raw = true;
    fd = libc.socket(domain, linux.SOCK_RAW | flags, protocol);
  }
  if (fd === -1)
    return { ok: false, reason: `no datagram socket: ${refusal}, no raw one: ${describeError(libc.errno())}` };
  try {
    configure(libc, fd, family, raw);
    if (localAddress !== undefined) bind(libc, fd, localAddress, family);
  } catch (error) {
    libc.close(fd);
    return { ok: false, reason: messageOf(error) };
  }
  return { ok: true, socket: wrap(libc, fd, raw, options) };
}

// Bounds one reading to some milliseconds, and is more than a receive buffer holds as a rule.
const roundsPerDrain = 128;

function wrap(libc: PingLibc, fd: number, raw: boolean, options: SocketOptions): EchoSocket {
  const buffer = options.buffer ?? createReceiveBuffer(libc);
  const sendShaped = createShapedSend(libc, fd, options.family);
  const withHeader = raw && options.family === 4;
  const state = { closed: false, departures: 0 };

  function drain(flags: number, listener: EchoListener): void {
    for (let round = 0; round < roundsPerDrain && !state.closed; round += 1) {
      const count = buffer.take(fd, flags);
      if (count === -1 && libc.errno() === linux.EAGAIN) return;
      // Any other error belongs to one echo: it comes here once, and with its details from the error queue.
      deliver(count, listener);
      if (count !== -1 && count < buffer.packets.length) return;
    }
  }

  function deliver(count: number, listener: EchoListener): void {
    if (count > 0) listener.onTaken();
    for (let slot = 0; slot < count; slot += 1) {
      const received = buffer.packets[slot];
      if (received === undefined || state.closed) return;
      if (received.departure !== null) listener.onDeparture(received.departure, received.stampMs ?? Number.NaN);
      else if (received.notice !== null) listener.onNotice(received);
      else if (!withHeader) listener.onMessage(received);
      else {
        const message = stripIpv4Header(received.bytes);
        if (message === null) continue;
        received.bytes = message;
        listener.onMessage(received);
      }
    }
  }

  return {
    family: options.family,
    identifier: raw ? options.identifier : null,
    send(packet, destination, shape) {
      // The number of a closed descriptor may be in use again by now.
      if (state.closed) return { ok: false, errno: linux.EBADF };
      const wallMs = buffer.wallMs();
      const send = () => libc.sendto(fd, packet, packet.length, linux.MSG_DONTWAIT, destination, destination.length);
      const sent = sendShaped(shape, send);
      if (sent !== -1) {
        const departure = state.departures;
        state.departures = (departure + 1) % 2 ** 32;
        return { ok: true, departure, wallMs };
      }
      const errno = libc.errno();
      // Whether the kernel counted what it did not send depends on its version and the reason: both start again.
      state.departures = 0;
      enableSendTimestamps(libc, fd);
      return { ok: false, errno };
    },
    wallMs: () => buffer.wallMs(),
    drain(listener) {
      drain(linux.MSG_ERRQUEUE, listener);
      drain(0, listener);
    },
    close() {
      if (state.closed) return;
      state.closed = true;
      libc.close(fd);
    },
  };
}

const receiveBuffer = 1 << 20;

function configure(libc: PingLibc, fd: number, family: AddressFamily, raw: boolean): void {
  const set = (level: number, name: number, value: number) => setOption(libc, fd, level, name, Uint32Array.of(value));
  set(linux.SOL_SOCKET, linux.SO_TIMESTAMPNS, 1);
  set(linux.SOL_SOCKET, linux.SO_RCVBUF, receiveBuffer);
  enableSendTimestamps(libc, fd);
  if (family === 4) {
    set(linux.SOL_IP, linux.IP_RECVTTL, 1);
    set(linux.SOL_IP, linux.IP_RECVERR, 1);
    if (raw) set(linux.SOL_RAW, linux.ICMP_FILTER, ~(1 << 0));
  } else {
    set(linux.SOL_IPV6, linux.IPV6_RECVHOPLIMIT, 1);
    set(linux.SOL_IPV6, linux.IPV6_RECVERR, 1);
    if (raw) setOption(libc, fd, linux.SOL_ICMPV6, linux.ICMPV6_FILTER, onlyType(129));
  }
}

// Has the kernel report each packet that it sends, numbered from 0 (`Documentation/networking/timestamping.rst`). If the system
// does not know this, the time right before sending serves.
function enableSendTimestamps(libc: PingLibc, fd: number): void {
  const flags = linux.SOF_TIMESTAMPING_TX_SOFTWARE | linux.SOF_TIMESTAMPING_OPT_ID | linux.SOF_TIMESTAMPING_OPT_TSONLY;
  for (const value of [0, flags]) {
    const bytes = new Uint8Array(Uint32Array.of(value).buffer);
    libc.setsockopt(fd, linux.SOL_SOCKET, linux.SO_TIMESTAMPING, bytes, bytes.length);
  }
}

// A struct icmp6_filter in which a bit that is set blocks its type (RFC 3542 section 3.2).
function onlyType(type: number): Uint32Array {
  const filter = new Uint32Array(8).fill(0xffffffff);
  filter[type >> 5] = ~(1 << (type & 31));
  return filter;
}

function setOption(libc: PingLibc, fd: number, level: number, name: number, value: Uint32Array): void {
  const bytes = new Uint8Array(value.buffer);
  if (libc.setsockopt(fd, level, name, bytes, bytes.length) === -1) {
    throw new Error(`socket option ${level}/${name}: ${describeError(libc.errno())}`);
  }
}

function bind(libc: PingLibc, fd: number, localAddress: string, family: AddressFamily): void {
  const address = encodeSocketAddress(localAddress, family);
  if (libc.bind(fd, address, address.length) === -1) {
    throw new Error(`source address ${localAddress}: ${describeError(libc.errno())}`);
  }
}
