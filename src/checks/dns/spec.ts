import { isIP } from 'node:net';
import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { type Endpoint, formatHostPort } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { Tls } from '../stream/tls-schemas.ts';
import { askedTypes } from './question.ts';
import { protocols, recordTypes } from './record-types.ts';

const RecordType = z.enum(recordTypes);

/** How a name server is asked. */
export const Protocol = z.enum(protocols);

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
    for (const type of recordTypes) {
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
