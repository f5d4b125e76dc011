import { z } from 'zod';
import { formatHost, formatHostPort } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { FailureCode } from '../outcome-schemas.ts';
import { PatternText } from '../pattern-schema.ts';

/** Another address that was reachable lately: whether it still is tells about the node's own uplink. */
const Reference = z.strictObject({
  name: z.string().max(200),
  host: Host(({ name, port }) => (port === null ? { message: 'needs a port' } : formatHostPort(name, port))),
});

/** What to gather: evidence about a target, of which `of` is the encoded spec. */
export const Spec = z.strictObject({
  type: z.literal('evidence'),
  host: Host(({ scheme, name, port, path }) => {
    const place = port === null ? formatHost(name) : formatHostPort(name, port);
    return scheme === null ? `${place}${path ?? ''}` : `${scheme}://${place}${path ?? ''}`;
  }).describe("The target's host."),
  of: z.record(z.string(), z.json()).describe("The target's spec, as its own type encodes it."),
  failure: FailureCode.nullable().default(null).describe('What the node saw; null if it sees the target up.'),
  redact: z
    .array(PatternText())
    .max(50)
    .default([])
    .describe('Regular expressions (RE2): what they match is redacted, besides what always is.'),
  references: z
    .array(Reference)
    .max(2)
    .default([])
    .describe('Addresses that show whether the node itself is connected.'),
});
export type Spec = z.output<typeof Spec>;
