import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { Duration } from '#kernel/units.ts';
import { type Endpoint, endpointOf, formatHostPort, Host } from '../endpoint.ts';
import { Tls } from '../stream/tls.ts';

export const RecordType = z.enum([
  'A',
  'AAAA',
  'MX',
  'TXT',
  'NS',
  'CNAME',
  'SOA',
  'PTR',
  'CAA',
  'SRV',
  'DS',
  'DNSKEY',
  'TLSA',
  'SVCB',
  'HTTPS',
  'NAPTR',
]);
export type RecordType = z.infer<typeof RecordType>;

// One value may be written without a list around it.
const Values = z.codec(
  z.union([z.string().max(2_000), z.array(z.string().max(2_000)).max(100)], {
    error: 'expected a value or a list of values',
  }),
  z.array(z.string()),
  { decode: (written) => (typeof written === 'string' ? [written] : written), encode: (values) => values },
);

const Records = z.strictObject({
  A: Values.optional().describe('A records.'),
  AAAA: Values.optional().describe('AAAA records.'),
  MX: Values.optional().describe('MX records.'),
  TXT: Values.optional().describe('TXT records.'),
  NS: Values.optional().describe('NS records.'),
  CNAME: Values.optional().describe('CNAME records.'),
  SOA: Values.optional().describe('SOA records.'),
  PTR: Values.optional().describe('PTR records.'),
  CAA: Values.optional().describe('CAA records.'),
  SRV: Values.optional().describe('SRV records.'),
  DS: Values.optional().describe('DS records.'),
  DNSKEY: Values.optional().describe('DNSKEY records.'),
  TLSA: Values.optional().describe('TLSA records.'),
  SVCB: Values.optional().describe('SVCB records.'),
  HTTPS: Values.optional().describe('HTTPS records.'),
  NAPTR: Values.optional().describe('NAPTR records.'),
});

/** What an answer must be like. Lists hold data as a zone file writes it: `10 mail.example.com` for MX. */
export const DnsExpectation = Records.extend({
  rcode: z
    .enum(['NOERROR', 'NXDOMAIN', 'SERVFAIL', 'REFUSED', 'FORMERR', 'NOTIMP'])
    .optional()
    .describe('Response code that the answer must have.'),
  authentic: z
    .literal(true)
    .optional()
    .describe(
      'The name server must state that it has validated the answer by DNSSEC (AD bit). It takes a validating `resolver` that you trust.',
    ),
  match: z
    .enum(['exact', 'contains', 'any'])
    .default('exact')
    .describe('"exact": the listed values and no others; "contains": all of them; "any": at least one of them.'),
  not: Records.optional().describe('Records that the answer must not have, by type; `match` is of no account here.'),
});
export type DnsExpectation = z.output<typeof DnsExpectation>;

/** How a name server is asked. */
export const Protocol = z.enum(['udp', 'tcp', 'tls', 'https']);
export type Protocol = z.infer<typeof Protocol>;

// A scheme is taken for what it says nowhere else: better none than one that is passed over.
function serverOf({ scheme, name, port, path }: Endpoint): string | { readonly message: string } {
  if (scheme === 'https' || scheme === 'tls' || path !== null)
    return { message: 'must be a name or an address, with or without a port: "protocol" and "path" say the rest' };
  return port === null ? name : formatHostPort(name, port);
}

export const Spec = z
  .strictObject({
    type: z.literal('dns'),
    host: Host(({ name }) => name).describe('Name to ask for, or an address whose name is asked for.'),
    timeout: Duration({ min: '100ms', max: '60s' })
      .default(5_000)
      .describe('For the whole question, with one repeat of a lost datagram to each name server.'),
    record: RecordType.optional().describe('Record type to ask for. Default: A and AAAA, or PTR for an address.'),
    resolver: Host(serverOf)
      .optional()
      .describe("Name server to ask, which is then what is checked. Default: the node's own."),
    protocol: Protocol.default('udp').describe(
      '"udp" retries over TCP if the answer is truncated; "tls" (RFC 7858, port 853) and "https" (RFC 8484, port 443) are for a `resolver`.',
    ),
    path: z
      .string()
      .max(1_000)
      .regex(/^\/[\x21-\x7e]*$/, { error: 'expected a path, such as "/dns-query"' })
      .optional()
      .describe('Where questions are posted over "https". Default: /dns-query.'),
    tls: Tls.omit({ min_version: true })
      .optional()
      .describe('The certificate of the name server, for "tls" and "https".'),
    recursion: z.boolean().default(true).describe('Whether to ask the name server to ask others.'),
    expect: DnsExpectation.optional().describe('Records that the answer must have, as a zone file writes their data.'),
  })
  .superRefine((spec, context) => {
    if (isIP(spec.host) !== 0 && spec.record !== undefined && spec.record !== 'PTR') {
      context.addIssue({ code: 'custom', path: ['record'], message: 'an address has PTR records only' });
    }
    const say = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const isEncrypted = spec.protocol === 'tls' || spec.protocol === 'https';
    if (isEncrypted && spec.resolver === undefined) say('resolver', `is missing: "${spec.protocol}" needs one`);
    if (spec.path !== undefined && spec.protocol !== 'https') say('path', 'needs "protocol: https"');
    if (spec.tls !== undefined && !isEncrypted) say('tls', 'needs "protocol: tls" or "https"');
    const asked = askedTypes(spec);
    for (const type of RecordType.options) {
      if (asked.includes(type) || type === 'CNAME') continue;
      const remedy = isIP(spec.host) === 0 ? `: add "record: ${type}"` : '';
      const message = `${type} records are not asked for${remedy}`;
      if (spec.expect?.[type] !== undefined) context.addIssue({ code: 'custom', path: ['expect', type], message });
      if (spec.expect?.not?.[type] !== undefined) {
        context.addIssue({ code: 'custom', path: ['expect', 'not', type], message });
      }
    }
  });
export type Spec = z.output<typeof Spec>;

/**
 * Milliseconds that a probe may take: the questions' time, and before it as much to resolve the name server's name if it has one, or
 * after it up to two seconds for the control question.
 */
export function longestMs({ timeout, resolver }: Spec): number {
  if (resolver === undefined) return timeout + controlQueryMs(timeout);
  return isIP(endpointOf(resolver).name) === 0 ? 2 * timeout : timeout;
}

/** How long the control question may take, of a check with this timeout; in milliseconds. */
export function controlQueryMs(timeout: number): number {
  return Math.min(timeout, 2_000);
}

/** The record types that a check asks for, one question each. */
export function askedTypes({ host, record }: Pick<Spec, 'host' | 'record'>): readonly RecordType[] {
  if (record !== undefined) return [record];
  return isIP(host) === 0 ? ['A', 'AAAA'] : ['PTR'];
}

/** The name to ask for: that of the reverse zones for an address (RFC 1035, section 3.5; RFC 3596, section 2.5). */
export function askedName(host: string): string {
  if (isIP(host) === 0) return host;
  const address = ipaddr.parse(host);
  const bytes = address.toByteArray();
  if (address.kind() === 'ipv4') return `${bytes.toReversed().join('.')}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 0xf]).toReversed();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
}

/** The port of a name server that is asked by this protocol. */
export function portFor(protocol: Protocol): number {
  if (protocol === 'https') return 443;
  return protocol === 'tls' ? 853 : 53;
}
