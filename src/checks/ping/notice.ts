import type { AddressFamily } from '../address.ts';
import type { Notice } from './receive-buffer.ts';

type NoticeTexts = Readonly<Record<number, string | Readonly<Record<number, string>>>>;

// RFC 792, RFC 1122 section 3.2.2.1, RFC 1812 section 5.2.7.1.
const icmp: NoticeTexts = {
  3: {
    0: 'network unreachable',
    1: 'host unreachable',
    2: 'protocol unreachable',
    3: 'port unreachable',
    4: 'packet too big, and not to be split',
    6: 'network unknown',
    7: 'host unknown',
    9: 'network prohibited',
    10: 'host prohibited',
    13: 'administratively prohibited',
  },
  11: 'time to live exceeded',
  12: 'parameter problem',
};

// RFC 4443 section 3.
const icmpv6: NoticeTexts = {
  1: {
    0: 'no route to destination',
    1: 'administratively prohibited',
    2: 'beyond the scope of the source address',
    3: 'address unreachable',
    4: 'port unreachable',
    5: 'source address refused',
    6: 'route rejected',
  },
  2: 'packet too big',
  3: 'hop limit exceeded',
  4: 'parameter problem',
};

/**
 * Whether a notice says that a packet was not delivered. Others are advice to hosts and routers, such as redirects (5) and source
 * quenches (4): the packet they quote has gone on its way.
 */
export function isFailure(family: AddressFamily, { type }: Notice): boolean {
  return type in (family === 4 ? icmp : icmpv6);
}

/** `host unreachable, says 192.0.2.1`. */
export function describeNotice(family: AddressFamily, { type, code, by, mtu }: Notice): string {
  const meaning = (family === 4 ? icmp : icmpv6)[type];
  const known = typeof meaning === 'object' ? meaning[code] : meaning;
  const text = known ?? `unreachable (type ${type}, code ${code})`;
  const room = mtu === undefined ? '' : ` (${mtu} bytes fit)`;
  return by === null ? `${text}${room}` : `${text}${room}, says ${by}`;
}
