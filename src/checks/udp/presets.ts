import type { Random } from '#kernel/random.ts';
import { encodeQuery, type Question, readMessage } from '../dns/message.ts';
import { offsetOf } from './ntp-offset.ts';
import type { UdpPreset } from './payload.ts';

/** A protocol over datagrams: its request, and how to recognise a proper reply. */
export interface Preset {
  /** One request whose proper reply only the target can know. */
  make(random: Random): Buffer;
  /** What a proper reply to this very request says, in words; null for anything else. Never throws. */
  recognise(reply: Buffer, request: Buffer): string | null;
  /** How far the target's clock is ahead in a proper reply, in seconds; null if it does not tell. The times are wall milliseconds. */
  readonly offsetOf?: (reply: Buffer, sentAt: number, receivedAt: number) => number | null;
}

const root: Question = { name: '.', type: 'NS' };

const dns: Preset = {
  make: (random) =>
    encodeQuery(root, { id: Buffer.from(random.bytes(2)).readUInt16BE(0), recursion: true, edns: false }),
  recognise(reply, request) {
    const read = readMessage(reply, root, request.readUInt16BE(0));
    return read.kind === 'message' ? `DNS, ${read.message.rcode}` : null;
  },
};

// RFC 5905, section 7.3. The server gives the transmit timestamp back, so a random one tells its answers from others.
const ntp: Preset = {
  offsetOf,
  make: (random) => Buffer.concat([Buffer.from([0x23]), Buffer.alloc(39), random.bytes(8)]),
  recognise(reply, request) {
    if (reply.length < 48 || !reply.subarray(24, 32).equals(request.subarray(40, 48))) return null;
    const [flags = 0, stratum = 0] = reply;
    const version = (flags >> 3) & 7;
    if ((flags & 7) !== 4 || version < 1 || version > 4) return null;
    if (stratum === 0) return `NTPv${version}, kiss code ${reply.toString('latin1', 12, 16).replaceAll(/[^A-Z]/g, '')}`;
    return `NTPv${version}, ${flags >> 6 === 3 || stratum >= 16 ? 'not synchronised' : `stratum ${stratum}`}`;
  },
};

// RFC 8489, sections 5 and 14: a binding request without attributes.
const stun: Preset = {
  make: (random) => Buffer.concat([Buffer.from('000100002112a442', 'hex'), random.bytes(12)]),
  recognise(reply, request) {
    if (reply.length < 20 || !reply.subarray(4, 20).equals(request.subarray(4, 20))) return null;
    if (reply.readUInt16BE(2) % 4 !== 0) return null;
    const kind = reply.readUInt16BE(0);
    if (kind === 0x0101) return 'STUN, binding response';
    return kind === 0x0111 ? 'STUN, error response' : null;
  },
};

export const presets: Readonly<Record<UdpPreset, Preset>> = { dns, ntp, stun };

/** The name of the protocol that lives at a port. */
export function presetNameAt(port: number): UdpPreset | null {
  switch (port) {
    case 53:
      return 'dns';
    case 123:
      return 'ntp';
    case 3_478:
      return 'stun';
    default:
      return null;
  }
}

/** The protocol that lives at a port. */
export function presetAt(port: number): Preset | null {
  const name = presetNameAt(port);
  return name === null ? null : presets[name];
}
