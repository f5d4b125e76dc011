import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { BareWebUrl } from '#kernel/url.ts';
import { formatHost, formatHostPort } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { registeredName, standardSources } from './registered-name.ts';

export const Spec = z.strictObject({
  type: z.literal('domain'),
  host: Host(registeredName).describe(
    'A domain, or any name under it: "www.example.co.uk" stands for "example.co.uk". A scheme, port and path are left out.',
  ),
  timeout: Duration({ min: '100ms', max: '60s' })
    .default(10_000)
    .describe('For everything together: the list of RDAP servers, names, connections, the answer.'),
  server: BareWebUrl('expected the address of an RDAP server, such as "https://rdap.example"')
    .optional()
    .describe('The RDAP server to ask. Default: the one that the list names.'),
  bootstrap: BareWebUrl('expected the address of a list of RDAP servers, such as "https://data.iana.org/rdap/dns.json"')
    .default(standardSources.bootstrap)
    .describe('The list of RDAP servers (RFC 9224), which is kept for a day.'),
  whois: Host(({ name, port }) => (port === null ? formatHost(name) : formatHostPort(name, port)))
    .default(standardSources.whois)
    .describe(
      'The WHOIS server to begin with (RFC 3912) if no RDAP server is known; the one that it refers to is asked.',
    ),
  expect: z
    .strictObject({
      valid_for: Duration({ max: '3650d' })
        .optional()
        .describe('How long the registration must still last, such as "30d".'),
    })
    .prefault({})
    .describe('What makes the registration a good one, besides that it has not ended.'),
});
export type Spec = z.output<typeof Spec>;
