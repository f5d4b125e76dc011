import type { AddressFamily } from '../address.ts';
import { type PingLibc, linux } from './libc.ts';

/** What an echo request is to be like beside its content. Absent is what the system does. */
export interface Shape {
  readonly dontFragment?: true;
  readonly ttl?: number;
  /** The value of the field as a whole: DSCP in its upper six bits. */
  readonly trafficClass?: number;
}

type Setting = readonly [level: number, name: number, value: number];

// ip(7), ipv6(7). Probing sends what fits the interface with DF set, whatever is known of the way: else only the first one would be sent.
function settingsOf({ dontFragment, ttl, trafficClass }: Shape, family: AddressFamily): readonly Setting[] {
  const settings: Setting[] = [];
  if (family === 4) {
    if (dontFragment === true) settings.push([linux.SOL_IP, linux.IP_MTU_DISCOVER, linux.IP_PMTUDISC_PROBE]);
    if (ttl !== undefined) settings.push([linux.SOL_IP, linux.IP_TTL, ttl]);
    if (trafficClass !== undefined) settings.push([linux.SOL_IP, linux.IP_TOS, trafficClass]);
    return settings;
  }
  if (dontFragment === true) {
    settings.push([linux.SOL_IPV6, linux.IPV6_MTU_DISCOVER, linux.IP_PMTUDISC_PROBE]);
    settings.push([linux.SOL_IPV6, linux.IPV6_DONTFRAG, 1]);
  }
  if (ttl !== undefined) settings.push([linux.SOL_IPV6, linux.IPV6_UNICAST_HOPS, ttl]);
  if (trafficClass !== undefined) settings.push([linux.SOL_IPV6, linux.IPV6_TCLASS, trafficClass]);
  return settings;
}

/**
 * Sends with the socket set as the shape asks for, and set back after it: it is shared, and nothing else happens in between. -1 with
 * `errno` set if a setting is refused, or sending is.
 */
export function sendShaped(
  libc: PingLibc,
  fd: number,
  family: AddressFamily,
  shape: Shape,
  send: () => number,
): number {
  const before: Setting[] = [];
  try {
    for (const [level, name, value] of settingsOf(shape, family)) {
      const old = getOption(libc, fd, level, name);
      if (old === null || !setOption(libc, fd, [level, name, value])) return -1;
      before.push([level, name, old]);
    }
    return send();
  } finally {
    const errno = libc.errno();
    for (const setting of before) setOption(libc, fd, setting);
    libc.setErrno(errno);
  }
}

function getOption(libc: PingLibc, fd: number, level: number, name: number): number | null {
  const value = new Uint8Array(new ArrayBuffer(4));
  const length = new Uint8Array(Uint32Array.of(4).buffer);
  return libc.getsockopt(fd, level, name, value, length) === -1 ? null : new DataView(value.buffer).getInt32(0, true);
}

function setOption(libc: PingLibc, fd: number, [level, name, value]: Setting): boolean {
  const bytes = new Uint8Array(Int32Array.of(value).buffer);
  return libc.setsockopt(fd, level, name, bytes, bytes.length) !== -1;
}
