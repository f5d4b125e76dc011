import type { AddressFamily } from '../address.ts';
import type { Notice } from '../ping/receive-buffer.ts';
import type { ProbeKind } from './path-trace.ts';

/** What came back for a probe. */
export interface ProbeAnswer {
  /** The number of the probe; null if the answer does not state it, as when a router quotes only the header of a datagram. */
  readonly probe: number | null;
  readonly address: string | null;
  readonly kind: Exclude<ProbeKind, 'none'>;
  /** The kernel's receive time on the socket's wall clock, or null. */
  readonly stampMs: number | null;
  /** The round trip, if the kernel measured it. */
  readonly seconds?: number;
  readonly mtu?: number;
}

export type ProbeSend =
  /** The wall clock right before. */
  { readonly ok: true; readonly wallMs: number } | { readonly ok: false; readonly errno: number };

/** What sends the probes of one measurement, all with the same ports and flow. None of its calls waits. */
export interface PathSocket {
  /** `size` is that of the whole packet in bytes, IP header included; large ones must not be split. */
  send(probe: number, ttl: number, size: number): ProbeSend;
  /** Reports what has arrived since the last call. */
  drain(onAnswer: (answer: ProbeAnswer) => void): void;
  wallMs(): number;
  close(): void;
}

export type OpenedPathSocket =
  | { readonly ok: true; readonly socket: PathSocket }
  | { readonly ok: false; readonly reason: string };

export const probeSizes = { small: 64, large: 1_500 } as const;

/** Length of the IP header without options. */
export const ipHeaderLength = { 4: 20, 6: 40 } as const;

// RFC 792, RFC 1122 section 3.2.2.1, RFC 1812 section 5.2.7.1.
const unreachableV4: Readonly<Record<number, ProbeAnswer['kind']>> = {
  3: 'port_unreachable',
  4: 'too_big',
  9: 'prohibited',
  10: 'prohibited',
  13: 'prohibited',
};

// RFC 4443 section 3.1.
const unreachableV6: Readonly<Record<number, ProbeAnswer['kind']>> = {
  1: 'prohibited',
  4: 'port_unreachable',
  5: 'prohibited',
};

/** What an ICMP error says about a probe; null for advice such as redirects, after which the probe went on. */
export function kindOfNotice(family: AddressFamily, { type, code }: Notice): ProbeAnswer['kind'] | null {
  if (family === 4) {
    if (type === 11) return 'time_exceeded';
    return type === 3 ? (unreachableV4[code] ?? 'unreachable') : null;
  }
  if (type === 3) return 'time_exceeded';
  if (type === 2) return 'too_big';
  return type === 1 ? (unreachableV6[code] ?? 'unreachable') : null;
}

/** The size that a notice states, as a member to spread. */
export function mtuOf({ mtu }: { readonly mtu?: number }): { readonly mtu?: number } {
  return mtu === undefined ? {} : { mtu: Math.min(mtu, 65_535) };
}

const sendTries = 4;

/** Sends again what met the pending error of an earlier probe: only an error that stays is the probe's own. */
export function sendTrying<Sending extends { readonly ok: boolean }>(send: () => Sending): Sending {
  let sending = send();
  for (let tries = 1; !sending.ok && tries < sendTries; tries += 1) sending = send();
  return sending;
}
