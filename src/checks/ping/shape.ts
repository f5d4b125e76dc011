import type { AddressFamily } from '../address.ts';
import { type PingLibc, linux } from './libc.ts';
import type { Spec } from './spec.ts';

/** What an echo request is to be like beside its content. Absent is what the system does. */
export interface Shape {
  readonly dontFragment?: true;
  readonly ttl?: number;
  /** The value of the field as a whole: DSCP in its upper six bits. */
  readonly trafficClass?: number;
}

/** What its requests are like beside their content; null for what the system does. */
export function shapeOf({ dont_fragment: dontFragment, ttl, dscp }: Spec): Shape | null {
  if (dontFragment === undefined && ttl === undefined && dscp === undefined) return null;
  return {
    ...(dontFragment !== undefined && { dontFragment }),
    ...(ttl !== undefined && { ttl }),
    ...(dscp !== undefined && { trafficClass: codeOf(dscp) << 2 }),
  };
}

// RFC 2474, section 4.2.2; RFC 2597, section 6; RFC 3246.
function codeOf(dscp: NonNullable<Spec['dscp']>): number {
  if (typeof dscp === 'number') return dscp;
  if (dscp === 'ef') return 46;
  const digits = Number(dscp.slice(2));
  return dscp.startsWith('cs') ? digits * 8 : Math.floor(digits / 10) * 8 + (digits % 10) * 2;
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

/** Sends with the socket set as the shape asks for. -1 with `errno` set if a setting is refused, or sending is. */
export type ShapedSend = (shape: Shape | null, send: () => number) => number;

/**
 * Remembers how a socket is set: what differs from the system's own settings stays until a send asks for something else, so that packets of
 * one shape take no more calls than others. All sends on the socket have to go through it.
 */
export function createShapedSend(libc: PingLibc, fd: number, family: AddressFamily): ShapedSend {
  const byOption = new Map<string, OptionState>();

  function stateOf(level: number, name: number): OptionState | null {
    const key = `${level}/${name}`;
    const known = byOption.get(key);
    if (known !== undefined) return known;
    const own = getOption(libc, fd, level, name);
    if (own === null) return null;
    const state = { level, name, own, value: own };
    byOption.set(key, state);
    return state;
  }

  function put(state: OptionState, value: number): boolean {
    if (state.value === value) return true;
    if (!setOption(libc, fd, [state.level, state.name, value])) return false;
    state.value = value;
    return true;
  }

  return (shape, send) => {
    const wanted = shape === null ? [] : settingsOf(shape, family);
    for (const state of byOption.values()) {
      const isWanted = wanted.some(([level, name]) => level === state.level && name === state.name);
      if (!isWanted && !put(state, state.own)) return -1;
    }
    for (const [level, name, value] of wanted) {
      const state = stateOf(level, name);
      if (state === null || !put(state, value)) return -1;
    }
    return send();
  };
}

interface OptionState {
  readonly level: number;
  readonly name: number;
  /** The system's. */
  readonly own: number;
  value: number;
}

function getOption(libc: PingLibc, fd: number, level: number, name: number): number | null {
  const value = new Uint8Array(new ArrayBuffer(4));
  const length = new Uint8Array(Uint32Array.of(4).buffer);
  return libc.getsockopt(fd, level, name, value, length) === -1 ? null : new DataView(value.buffer).getInt32(0, true);
}

const optionValue = new Int32Array(new ArrayBuffer(4));
const optionBytes = new Uint8Array(optionValue.buffer);

function setOption(libc: PingLibc, fd: number, [level, name, value]: Setting): boolean {
  optionValue[0] = value;
  return libc.setsockopt(fd, level, name, optionBytes, optionBytes.length) !== -1;
}
