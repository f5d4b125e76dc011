import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';

/** The destination of a check, as written (interface 4.1). */
export interface Endpoint {
  /** Lowercase, without `://`. */
  readonly scheme: string | null;
  /** A lowercase ASCII name without a final dot, a dotted IPv4 address, or a compressed IPv6 address without brackets. */
  readonly name: string;
  readonly port: number | null;
  /** Path and query, beginning with a slash; a fragment is dropped. */
  readonly path: string | null;
}

export type ParsedEndpoint = ({ readonly ok: true } & Endpoint) | { readonly ok: false; readonly message: string };

const longestText = 2_048;

/**
 * Reads `name`, an IPv4 or IPv6 address, `name:port`, `[IPv6]:port` or `scheme://name[:port][/path]`. What `inet_aton(3)`
 * and URL parsers take for an IPv4 address (`2130706433`, `0x7f.1`, `017700000001`, `①②⑦.0.0.1`) becomes that address, so
 * that the address itself is judged later; what only looks like one (`1.2.3.256`, `a.10`) is refused.
 */
export function parseEndpoint(text: string): ParsedEndpoint {
  if (text === '') return refused('is empty: give a host name or an address');
  if (text.length > longestText) return refused(`is longer than ${longestText} characters`);
  if (/[\p{C}\p{Z}\\]/u.test(text)) return refused('must not contain spaces, control characters or backslashes');
  const [, written, rest = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/iu.exec(text) ?? [];
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  if (authority === '') return refused('has no host name');
  if (authority.includes('@')) return refused('must not contain a user name or password');
  if (authority.includes('%')) return refused('must not contain "%": neither zones nor escapes are taken in a host');
  const split = splitPort(authority);
  if (!split.ok) return split;
  const name = split.literal === null ? readName(split.name) : readIpv6(split.literal);
  if (!name.ok) return name;
  const path = end === -1 ? null : readPath(rest.slice(end));
  return { ok: true, scheme: written?.toLowerCase() ?? null, name: name.name, port: split.port, path };
}

/** The endpoint of a host in the form that a `Host` schema gave it. Throws a `RangeError` for any other text. */
export function endpointOf(host: string): Endpoint {
  const parsed = parseEndpoint(host);
  if (!parsed.ok) throw new RangeError(`the host ${JSON.stringify(host)} ${parsed.message}`);
  return parsed;
}

// Ports by service name (IANA service name registry), with the spellings in use for the TLS variants.
const schemePorts: ReadonlyMap<string, number> = new Map([
  ['ftp', 21],
  ['ssh', 22],
  ['sftp', 22],
  ['telnet', 23],
  ['smtp', 25],
  ['domain', 53],
  ['dns', 53],
  ['gopher', 70],
  ['http', 80],
  ['ws', 80],
  ['pop3', 110],
  ['ntp', 123],
  ['imap', 143],
  ['snmp', 161],
  ['ldap', 389],
  ['https', 443],
  ['wss', 443],
  ['smtps', 465],
  ['ssmtp', 465],
  ['submissions', 465],
  ['syslog', 514],
  ['rtsp', 554],
  ['submission', 587],
  ['ldaps', 636],
  ['rsync', 873],
  ['ftps', 990],
  ['imaps', 993],
  ['pop3s', 995],
  ['socks5', 1080],
  ['mssql', 1433],
  ['sqlserver', 1433],
  ['mqtt', 1883],
  ['stun', 3478],
  ['turn', 3478],
  ['mysql', 3306],
  ['rdp', 3389],
  ['nats', 4222],
  ['sip', 5060],
  ['sips', 5061],
  ['stuns', 5349],
  ['turns', 5349],
  ['postgres', 5432],
  ['postgresql', 5432],
  ['amqps', 5671],
  ['amqp', 5672],
  ['vnc', 5900],
  ['redis', 6379],
  ['rediss', 6379],
  ['irc', 6667],
  ['ircs', 6697],
  ['mqtts', 8883],
  ['git', 9418],
  ['memcached', 11_211],
  ['mongodb', 27_017],
]);

/** The port of an endpoint: as written, else by its scheme, else 80. */
export function portOf({ port, scheme }: Pick<Endpoint, 'port' | 'scheme'>): number {
  return port ?? schemePorts.get(scheme ?? '') ?? 80;
}

/** `name:port`, with an IPv6 address in brackets. */
export function formatHostPort(name: string, port: number): string {
  return `${formatHost(name)}:${port}`;
}

/** A name or address as it stands before `:port`: an IPv6 address in brackets. */
export function formatHost(name: string): string {
  return name.includes(':') ? `[${name}]` : name;
}

type HostName = { readonly ok: true; readonly name: string } | EndpointError;

interface EndpointError {
  readonly ok: false;
  readonly message: string;
}

interface AuthorityParts {
  readonly ok: true;
  readonly name: string;
  /** What is an IPv6 address or nothing, by its brackets or colons. */
  readonly literal: string | null;
  readonly port: number | null;
}

function refused(message: string): EndpointError {
  return { ok: false, message };
}

function splitPort(authority: string): AuthorityParts | EndpointError {
  const bracketed = /^\[([^[\]]*)\](?::(.*))?$/.exec(authority);
  const colons = authority.split(':').length - 1;
  if (bracketed === null && colons > 1) return { ok: true, name: '', literal: authority, port: null };
  const [name = '', written] = bracketed === null ? authority.split(':') : ['', bracketed[2]];
  const literal = bracketed?.[1] ?? null;
  if (written === undefined) return { ok: true, name, literal, port: null };
  const port = /^\d{1,5}$/.test(written) ? Number(written) : Number.NaN;
  if (!(port >= 1 && port <= 65_535)) return refused('has no valid port: expected a number from 1 to 65535');
  return { ok: true, name, literal, port };
}

function readIpv6(literal: string): HostName {
  if (!isIPv6(literal)) return refused('is no valid IPv6 address');
  return { ok: true, name: ipaddr.IPv6.parse(literal).toString() };
}

function readName(written: string): HostName {
  // Four decimal numbers without leading zeros are what `readIpv4` would make of them.
  if (isIPv4(written)) return { ok: true, name: written };
  if (!/^[a-z0-9._\-\u{80}-\u{10ffff}]+$/iu.test(written)) {
    return refused('is no valid host name: letters, digits, "-", "_" and "." are allowed');
  }
  const ascii = isAscii(written) ? written.toLowerCase() : domainToASCII(written);
  if (!/^[a-z0-9._-]+$/.test(ascii)) return refused('is no valid internationalised host name');
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  const labels = name.split('.');
  if (isNumber(labels.at(-1) ?? '')) return readIpv4(labels);
  if (name.length > 253) return refused('is longer than the 253 characters that a host name may have');
  for (const label of labels) {
    if (label === '') return refused('has an empty part between its dots');
    if (label.length > 63) return refused('has a part longer than the 63 characters that a label may have');
    if (label.startsWith('-') || label.endsWith('-')) return refused('has a part that begins or ends with "-"');
  }
  return { ok: true, name };
}

// A name whose last label is a number is an address or nothing (WHATWG URL, "ends in a number").
function isNumber(label: string): boolean {
  return /^(?:\d+|0x[0-9a-f]*)$/.test(label);
}

// inet_aton(3): one to four numbers, decimal, octal or hexadecimal; the last fills all bytes that are left.
function readIpv4(parts: readonly string[]): HostName {
  const numbers = parts.map(readNumber);
  const last = numbers.at(-1) ?? Number.NaN;
  const leading = numbers.slice(0, -1);
  const room = 256 ** (4 - leading.length);
  if (parts.length > 4 || !leading.every((number) => number <= 255) || !(last < room)) {
    return refused('looks like an IPv4 address but is none');
  }
  const value = leading.reduce((sum, number, index) => sum + number * 256 ** (3 - index), last);
  const bytes = [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);
  return { ok: true, name: bytes.join('.') };
}

function readNumber(text: string): number {
  if (/^0x[0-9a-f]*$/.test(text)) return text === '0x' ? 0 : Number(text);
  if (/^0[0-7]*$/.test(text)) return Number.parseInt(text, 8);
  return /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
}

function readPath(rest: string): string | null {
  const [path = ''] = rest.split('#');
  if (path === '') return null;
  return path.startsWith('/') ? path : `/${path}`;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
