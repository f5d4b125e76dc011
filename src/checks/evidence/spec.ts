import { z } from 'zod';
import { formatHost, formatHostPort } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { FailureCode } from '../outcome-schemas.ts';
import { PatternText } from '../pattern-schema.ts';
import type { EvidencePlan } from './plan.ts';

/** Another address that was reachable lately: whether it still is tells about the node's own uplink. */
const Reference = z.strictObject({
  name: z.string().max(200),
  host: Host(({ name, port }) => (port === null ? { message: 'needs a port' } : formatHostPort(name, port))),
});

const EncodedSpec = z.record(z.string(), z.json());

/** The plan for an encoded spec by its own type, or why there is none. */
export type PlanOf = (of: z.output<typeof EncodedSpec>) => EvidencePlan | string;

/** A target to gather evidence about. */
interface EvidenceSubject {
  /** Its spec as its own type encodes it: what other machines get. */
  readonly encoded: z.output<typeof EncodedSpec>;
  /** Made where the spec is read, as a node's thread has no schemas. */
  readonly plan: EvidencePlan | string;
}

/** What to gather: evidence about a target, of which `of` is the encoded spec. */
export function specWith(planOf: PlanOf) {
  return z.strictObject({
    type: z.literal('evidence'),
    host: Host(({ scheme, name, port, path }) => {
      const place = port === null ? formatHost(name) : formatHostPort(name, port);
      return scheme === null ? `${place}${path ?? ''}` : `${scheme}://${place}${path ?? ''}`;
    }).describe("The target's host."),
    of: z
      .codec(EncodedSpec, z.custom<EvidenceSubject>(), {
        decode: (encoded) => ({ encoded, plan: planOf(encoded) }),
        encode: ({ encoded }) => encoded,
      })
      .describe("The target's spec, as its own type encodes it."),
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
}
export type Spec = z.output<ReturnType<typeof specWith>>;
