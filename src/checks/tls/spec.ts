import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { formatHostPort } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { ConnectionFamily, refuseFamiliesOfAddress } from '../family-schema.ts';
import { PatternText } from '../pattern-schema.ts';
import { StreamPreset } from '../stream/preset-schema.ts';
import { Tls } from '../stream/tls-schemas.ts';
import { tlsPortOf } from './port.ts';

export const TlsExpectation = z.strictObject({
  valid_for: Duration({ max: '3650d' })
    .optional()
    .describe('How long the certificate must still be valid, such as "14d".'),
  stapled: z
    .literal(true)
    .optional()
    .describe('The server must staple an OCSP response, which says that the certificate is not revoked.'),
  not_revoked: z
    .literal(true)
    .optional()
    .describe(
      'The issuer must say that it has not revoked the certificate, by OCSP or by a revocation list; it is asked every six hours.',
    ),
  issuer: PatternText().optional().describe('Regular expression (RE2) that the name of its issuer must match.'),
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{2}(?::?[0-9a-f]{2}){31}$/i, { error: 'expected a SHA-256 fingerprint: 64 hexadecimal digits' })
    .optional()
    .describe('Its SHA-256 fingerprint, with colons or without.'),
});
export type TlsExpectation = z.output<typeof TlsExpectation>;

export const Spec = z
  .strictObject({
    type: z.literal('tls'),
    host: Host((endpoint) => formatHostPort(endpoint.name, tlsPortOf(endpoint))).describe(
      'Name or address with a port: "example.com", "example.com:8443", "imaps://example.com". Default port: by scheme, or 443.',
    ),
    timeout: Duration({ min: '100ms', max: '60s' })
      .default(5_000)
      .describe('For everything together: name, connection, handshake.'),
    family: ConnectionFamily,
    starttls: StreamPreset.exclude(['ssh'])
      .optional()
      .describe(
        'The protocol whose command starts TLS: smtp, imap, pop3, ftp, ldap or postgres. Default: TLS at once.',
      ),
    ...Tls.shape,
    expect: TlsExpectation.prefault({}).describe('What the certificate must be, besides trusted and for the name.'),
  })
  .superRefine(refuseFamiliesOfAddress);
export type Spec = z.output<typeof Spec>;
