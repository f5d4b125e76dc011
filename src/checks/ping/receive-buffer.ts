import { decodeSocketAddress } from './socket-address.ts';
import { type PingLibc, linux } from './libc.ts';

/** An ICMP error about a request of ours, as the kernel's error queue tells it (`ip(7)`, IP_RECVERR). */
export interface Notice {
  readonly type: number;
  readonly code: number;
  /** False if this machine's own stack refused the packet. */
  readonly fromNetwork: boolean;
  /** Who sent the error. */
  readonly by: string | null;
  /** Where the packet was too big: how many bytes, headers included, the next hop takes. */
  readonly mtu?: number;
}

/** One received message. It and its arrays are used again for the next one: take what you need. */
export interface ReceivedPacket {
  /** What was received or, for a notice, the request that it is about; nothing of either for a departure. */
  bytes: Uint8Array;
  /** The peer's socket address; for a notice, the one the request went to. */
  readonly peer: Uint8Array;
  /** The kernel's time on the buffer's wall clock, or null: when it was received or, for a departure, sent. */
  stampMs: number | null;
  /** TTL or hop limit on arrival, or null. */
  ttl: number | null;
  notice: Notice | null;
  /** Where this tells that a packet of ours has left: which one, counted from 0. */
  departure: number | null;
}

/** Memory for `recvmmsg(2)`, laid out once: receiving allocates next to nothing. */
export interface ReceiveBuffer {
  /** Takes what waits, up to `packets.length` messages, without waiting. Returns how many, or -1 with `errno` set. */
  take(fd: number, flags: number): number;
  readonly packets: readonly ReceivedPacket[];
  /** The wall clock of the kernel's receive times: milliseconds since some fixed time. */
  wallMs(): number;
}

// Offsets in struct mmsghdr, with struct msghdr at its start, on 64-bit Linux.
const header = {
  size: 64,
  name: 0,
  nameLength: 8,
  vector: 16,
  vectorCount: 24,
  control: 32,
  controlLength: 40,
} as const;
const dataLengthAt = 56;
const room = { vector: 16, peer: 32, control: 256, data: 2_048 } as const;
const slotSize = room.vector + room.peer + room.control + room.data;

const shared = new WeakMap<PingLibc, ReceiveBuffer>();

/** One for all sockets that are opened for a moment: each reading is done with before another one begins. */
export function sharedReceiveBuffer(libc: PingLibc): ReceiveBuffer {
  const known = shared.get(libc) ?? createReceiveBuffer(libc);
  shared.set(libc, known);
  return known;
}

export function createReceiveBuffer(libc: PingLibc, slots = 16): ReceiveBuffer {
  const memory = new ArrayBuffer(slots * (header.size + slotSize));
  const headers = new Uint8Array(memory, 0, slots * header.size);
  const view = new DataView(memory);
  const start = libc.address(headers);
  const time = new Uint8Array(new ArrayBuffer(16));
  const timeView = new DataView(time.buffer);
  libc.clock_gettime(linux.CLOCK_REALTIME, time);
  const epochSeconds = readInt64(timeView, 0);
  const toMs = (view: DataView, at: number) =>
    (readInt64(view, at) - epochSeconds) * 1e3 + readInt64(view, at + 8) / 1e6;

  const places = Array.from({ length: slots }, (_, slot) => {
    const vectorAt = slots * header.size + slot * slotSize;
    const peerAt = vectorAt + room.vector;
    const controlAt = peerAt + room.peer;
    const dataAt = controlAt + room.control;
    const headerAt = slot * header.size;
    const point = (at: number, to: number) => view.setBigUint64(at, start + BigInt(to), true);
    point(headerAt + header.name, peerAt);
    point(headerAt + header.vector, vectorAt);
    view.setUint32(headerAt + header.vectorCount, 1, true);
    point(headerAt + header.control, controlAt);
    point(vectorAt, dataAt);
    view.setUint32(vectorAt + 8, room.data, true);
    const bytes = new Uint8Array(memory, dataAt, room.data);
    const received: ReceivedPacket = {
      bytes,
      peer: new Uint8Array(memory, peerAt, room.peer),
      stampMs: null,
      ttl: null,
      notice: null,
      departure: null,
    };
    return { headerAt, controlAt, bytes, received };
  });

  function reset(): void {
    for (const { headerAt } of places) {
      view.setUint32(headerAt + header.nameLength, room.peer, true);
      view.setUint32(headerAt + header.controlLength, room.control, true);
    }
  }

  function open({ headerAt, controlAt, bytes, received }: (typeof places)[number]): void {
    received.stampMs = null;
    received.ttl = null;
    received.notice = null;
    received.departure = null;
    const end = controlAt + Math.min(view.getUint32(headerAt + header.controlLength, true), room.control);
    for (let at = controlAt; at + 16 <= end;) {
      const length = view.getUint32(at, true);
      if (length < 16 || at + length > end) break;
      const level = view.getInt32(at + 8, true);
      const type = view.getInt32(at + 12, true);
      if (level === linux.SOL_SOCKET && type === linux.SO_TIMESTAMPNS) received.stampMs = toMs(view, at + 16);
      else if (isTtl(level, type)) received.ttl = view.getInt32(at + 16, true);
      else if (isExtendedError(level, type)) readExtendedError(view, at + 16, length - 16, received);
      at += Math.ceil(length / 8) * 8;
    }
    // A departure brings none.
    if (received.departure !== null) return;
    received.bytes = bytes.subarray(0, Math.min(view.getUint32(headerAt + dataLengthAt, true), room.data));
  }

  return {
    packets: places.map(({ received }) => received),
    take(fd, flags) {
      reset();
      const count = libc.recvmmsg(fd, headers, slots, flags | linux.MSG_DONTWAIT, null);
      for (let slot = 0; slot < count; slot += 1) {
        const place = places[slot];
        if (place !== undefined) open(place);
      }
      return count;
    },
    wallMs() {
      libc.clock_gettime(linux.CLOCK_REALTIME, time);
      return toMs(timeView, 0);
    },
  };
}

function isTtl(level: number, type: number): boolean {
  return (
    (level === linux.SOL_IP && type === linux.IP_TTL) || (level === linux.SOL_IPV6 && type === linux.IPV6_HOPLIMIT)
  );
}

function isExtendedError(level: number, type: number): boolean {
  return (
    (level === linux.SOL_IP && type === linux.IP_RECVERR) || (level === linux.SOL_IPV6 && type === linux.IPV6_RECVERR)
  );
}

// struct sock_extended_err, followed by the socket address of who sent the error.
const extendedErrorLength = 16;
const origin = { local: 1, timestamping: 4 } as const;

function readExtendedError(view: DataView, at: number, length: number, received: ReceivedPacket): void {
  if (length < extendedErrorLength) return;
  const from = view.getUint8(at + 4);
  if (from === origin.timestamping) {
    received.departure = view.getUint32(at + 12, true);
    return;
  }
  const sender = new Uint8Array(view.buffer, at + extendedErrorLength, length - extendedErrorLength);
  received.notice = {
    fromNetwork: from !== origin.local,
    type: view.getUint8(at + 5),
    code: view.getUint8(at + 6),
    by: decodeSocketAddress(sender),
    ...mtuIn(view, at),
  };
}

// Exact up to 2^53, which is far more than any time that the kernel gives.
function readInt64(view: DataView, at: number): number {
  return view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
}

// The kernel tells it beside the errors that have one: EMSGSIZE.
function mtuIn(view: DataView, at: number): Pick<Notice, 'mtu'> {
  const mtu = view.getUint32(at + 8, true);
  return view.getUint32(at, true) === linux.EMSGSIZE && mtu > 0 ? { mtu } : {};
}
