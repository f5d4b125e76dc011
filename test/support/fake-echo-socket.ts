import type { AddressFamily } from '#checks/index.ts';
import type { ReceivedPacket, Notice } from '#checks/ping/receive-buffer.ts';
import { checksum } from '#checks/ping/packet.ts';
import type { EchoListener, EchoSocket } from '#checks/ping/socket.ts';
import type { Clock } from '#kernel/clock.ts';

/** A request that was sent through the socket. */
interface SentEcho {
  readonly packet: Uint8Array;
  readonly peer: Uint8Array;
  readonly at: number;
}

/** An ICMP socket without a network: the test sees what was sent and decides what arrives. */
export interface FakeEchoSocket extends EchoSocket {
  readonly sent: readonly SentEcho[];
  closed: boolean;
  /** How often it was read. */
  drains: number;
  /** Error numbers for the next sends, first come first served; 0 and none are success. */
  readonly errors: number[];
  /** What the next drain finds. */
  readonly queued: (() => void)[];
  /** Makes a reply to a request arrive now, changed at will. `stampMs` is on the wall clock. */
  reply(echo: SentEcho | undefined, changes?: Partial<ReceivedPacket> & { readonly payload?: Uint8Array }): void;
  /** Tells when the request with that number, counted from 0, left the machine. */
  depart(departure: number, atMs: number): void;
  notify(echo: SentEcho | undefined, notice: Notice): void;
}

export function fakeEchoSocket(
  clock: Clock,
  family: AddressFamily = 4,
  identifier: number | null = null,
): FakeEchoSocket {
  const sent: SentEcho[] = [];
  const errors: number[] = [];
  const queued: (() => void)[] = [];
  let listener: EchoListener | null = null;

  const hear = (): EchoListener | null => {
    listener?.onTaken();
    return listener;
  };

  const received = (echo: SentEcho | undefined, changes: Partial<ReceivedPacket>): ReceivedPacket => {
    if (echo === undefined) throw new Error('no such request was sent');
    return {
      bytes: echo.packet,
      peer: echo.peer,
      stampMs: clock.now(),
      ttl: 64,
      notice: null,
      departure: null,
      ...changes,
    };
  };

  return {
    family,
    identifier,
    sent,
    errors,
    queued,
    closed: false,
    drains: 0,
    send(packet, peer) {
      const errno = errors.shift() ?? 0;
      if (errno !== 0) return { ok: false, errno };
      sent.push({ packet: packet.slice(), peer: peer.slice(), at: clock.elapsed() });
      return { ok: true, departure: sent.length - 1, wallMs: clock.now() };
    },
    wallMs: () => clock.now(),
    drain(to) {
      listener = to;
      this.drains += 1;
      for (const arrive of queued.splice(0)) arrive();
    },
    close() {
      this.closed = true;
    },
    reply(echo, { payload, ...changes } = {}) {
      const one = received(echo, changes);
      const bytes = Uint8Array.of(...one.bytes.subarray(0, 8), ...(payload ?? one.bytes.subarray(8)));
      bytes[0] = family === 4 ? 0 : 129;
      bytes.set([0, 0], 2);
      if (family === 4) new DataView(bytes.buffer).setUint16(2, checksum(bytes));
      hear()?.onMessage({ ...one, bytes });
    },
    depart: (departure, atMs) => hear()?.onDeparture(departure, atMs),
    notify: (echo, notice) => hear()?.onNotice(received(echo, { notice })),
  };
}
