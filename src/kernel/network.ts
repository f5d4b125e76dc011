import { isIPv4, isIPv6 } from 'node:net';

/** Whose an address counts as: an IPv6 address is its /64, everything else as it is. */
export function networkOf(text: string): string {
  // Most are names and IPv4 addresses, which Node would compare with a long pattern.
  if (!text.includes(':')) return text;
  const mapped = /^::ffff:(.*)$/i.exec(text)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(text)) return text;
  const [head = '', tail] = (text.split('%')[0] ?? '').split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const front = groups(head);
  // An IPv4 address at the end stands for two groups.
  const back = groups(tail ?? '').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
  const middle = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const full = [...front, ...Array.from({ length: middle }, () => '0'), ...back];
  return `${full
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** The site of an address, as one client: an IPv4 address, or an IPv6 network of 56 bits, as providers assign them (RFC 6177). */
export function siteOf(address: string): string {
  const network = networkOf(address);
  const [a, b, c, d = ''] = network.split(':');
  if (!network.endsWith('::/64')) return network;
  return `${a}:${b}:${c}:${(Number.parseInt(d, 16) & 0xff00).toString(16)}::/56`;
}

/** The origin of a request. Headers are lower case; an absent one is undefined. */
export interface RequestOrigin {
  /** The address of the connection itself. */
  readonly peer: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/**
 * Whether a request comes from this machine itself, straight and under one of the machine's own names: any page can call a
 * name its own and point it here (DNS rebinding), which its Host tells. Whether a page of another site made it is not judged.
 */
export function isFromHere({ peer, headers }: RequestOrigin): boolean {
  if (!isLoopback(peer) || forwarding.some((name) => headers[name] !== undefined)) return false;
  const host = String(headers['host'] ?? '')
    .replace(/:\d+$/, '')
    .toLowerCase();
  return host === 'localhost' || isLoopback(host.replace(/^\[(.*)\]$/, '$1'));
}

/** Whether an address is this machine's own loopback, also as an IPv4-mapped one. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  return address === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}
