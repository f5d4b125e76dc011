import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type AddressFamily = 4 | 6;

/** Which addresses a command may reach: only globally routable ones, or private and loopback ones besides. */
export type Policy = 'public' | 'private';

/** A range as it is written: text that the schema `AddressRange` accepts. */
export type AddressRange = string;

/** What a node allows besides the policy of a command. Ranges were parsed with `addressRules`. */
export interface AddressRules {
  readonly allow: readonly NetworkRange[];
  readonly deny: readonly NetworkRange[];
}

type ParsedAddress = ipaddr.IPv4 | ipaddr.IPv6;
type NetworkRange = readonly [ParsedAddress, number];

/** Throws a `RangeError` for text that `AddressRange` does not accept. */
export function addressRules(allow: readonly AddressRange[], deny: readonly AddressRange[]): AddressRules {
  return { allow: allow.map(rangeOf), deny: deny.map(rangeOf) };
}

/** Why an address may not be reached. */
export type AddressObjection = 'no_address' | 'never' | 'denied' | 'own' | 'special' | 'private';

/**
 * Judges one address; null if it may be reached. `deny` beats `allow`, `allow` beats the policy; multicast, broadcast,
 * unspecified and class E addresses are never reached. IPv6 is an allow-list: global unicast (2000::/3) without the holes
 * that stand for something else. An address that carries an IPv4 address inside is reached only where `allow` names it
 * and the inner address may be reached too.
 */
export function addressObjection(
  text: string,
  policy: Policy,
  rules: AddressRules,
  own: readonly string[],
): AddressObjection | null {
  const kind = isIP(text);
  if (kind === 0 || text.includes('%')) return 'no_address';
  // Asked for each check that is started over the API: the library would try one pattern after the other.
  const address = kind === 4 ? new ipaddr.IPv4(text.split('.').map(Number)) : ipaddr.IPv6.parse(text);
  if (isIn(address, never)) return 'never';
  if (isIn(address, rules.deny)) return 'denied';
  const inner = innerAddress(address);
  if (inner !== null) {
    return isIn(address, rules.allow) ? addressObjection(inner.toString(), policy, rules, own) : 'special';
  }
  if (isIn(address, rules.allow)) return null;
  if (policy === 'public' && own.some((mine) => isSameAddress(mine, text))) return 'own';
  if (isIn(address, local)) return policy === 'private' ? null : 'private';
  if (address.kind() === 'ipv6' && !isIn(address, globalUnicast)) return 'special';
  return isIn(address, special) ? 'special' : null;
}

/** Whether two texts are the same address; an IPv4 address is the same as its IPv4-mapped IPv6 form. */
export function isSameAddress(one: string, other: string): boolean {
  if (isIP(one) === 0 || isIP(other) === 0) return false;
  if (one === other) return true;
  return ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString();
}

const never = ranges('0.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4', '::/128', 'ff00::/8');

// What a home or company network is made of: RFC 1918, shared address space (RFC 6598), loopback, link-local, unique local.
const local = ranges(
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '::1/128',
  'fe80::/10',
  'fc00::/7',
);

// Special purpose (RFC 6890, IANA registries) and, last of IPv4, the server that every machine in Azure sees.
const special = ranges(
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '168.63.129.16/32',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
);

const globalUnicast = ranges('2000::/3');

interface EmbeddedIpv4 {
  readonly range: NetworkRange;
  /** Where the IPv4 address begins, in bytes. */
  readonly offset: number;
  /** Teredo writes it inverted (RFC 4380). */
  readonly inverted?: true;
}

// IPv4-compatible and -mapped (RFC 4291), translated (RFC 6145, RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380).
const embeddings: readonly EmbeddedIpv4[] = [
  { range: rangeOf('::ffff:0:0/96'), offset: 12 },
  { range: rangeOf('::ffff:0:0:0/96'), offset: 12 },
  { range: rangeOf('64:ff9b::/96'), offset: 12 },
  { range: rangeOf('64:ff9b:1::/48'), offset: 12 },
  { range: rangeOf('2002::/16'), offset: 2 },
  { range: rangeOf('2001::/32'), offset: 12, inverted: true },
];
const compatible = rangeOf('::/96');

function innerAddress(address: ParsedAddress): ipaddr.IPv4 | null {
  if (address.kind() === 'ipv4') return null;
  const bytes = address.toByteArray();
  const embedding = embeddings.find(({ range }) => isIn(address, [range]));
  if (embedding !== undefined) {
    const inner = bytes.slice(embedding.offset, embedding.offset + 4);
    return new ipaddr.IPv4(embedding.inverted ? inner.map((byte) => 255 - byte) : inner);
  }
  // ::1 is the loopback address, not 0.0.0.1.
  const isCompatible = isIn(address, [compatible]) && address.toString() !== '::1';
  return isCompatible ? new ipaddr.IPv4(bytes.slice(12)) : null;
}

function isIn(address: ParsedAddress, list: readonly NetworkRange[]): boolean {
  return list.some(([base, bits]) => {
    if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
    return base instanceof ipaddr.IPv6 && address.match(base, bits);
  });
}

function ranges(...texts: readonly string[]): readonly NetworkRange[] {
  return texts.map(rangeOf);
}

function rangeOf(text: string): NetworkRange {
  const range = parseRange(text);
  if (range === null) throw new RangeError(`"${text}" is not a range of addresses such as "10.0.0.0/8"`);
  return range;
}

export function parseRange(text: string): NetworkRange | null {
  const [written = '', bits, ...rest] = text.split('/');
  const kind = isIP(written);
  if (kind === 0 || written.includes('%') || rest.length > 0) return null;
  const longest = kind === 4 ? 32 : 128;
  if (bits === undefined) return [ipaddr.parse(written), longest];
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > longest) return null;
  return [ipaddr.parse(written), Number(bits)];
}
