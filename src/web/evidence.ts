import { z } from 'zod';
import { evidenceOccasions, type GatheredEvidence, gatheringsOf } from '#history/evidence.ts';

const Moment = z.iso.datetime();
// The document as nodes make it: its shape is theirs, and newer ones may say more.
const Document = z
  .looseObject({})
  .describe('Path, names, TLS, response, received bytes and uplink, as far as they apply.');

const Conclusion = z.strictObject({ rule: z.string().describe('A stable name.'), text: z.string() });

const NodeEvidence = z.strictObject({
  node: z.string().describe('Empty for a note that is about no node.'),
  is_failing: z.boolean().describe('Whether the node saw the target fail.'),
  failure: z.string().nullable().describe('A stable code of the failure.'),
  document: Document.nullable(),
  last_good: z
    .strictObject({ at: Moment, document: Document })
    .nullable()
    .describe('What the node gathered the last time before that it saw the target up.'),
  note: z.string().nullable().describe('Why there is no document.'),
});

/** What nodes gathered at one moment, as JSON. */
export const EvidenceGathering = z.strictObject({
  at: Moment,
  occasion: z.enum(evidenceOccasions).describe('Why it was gathered.'),
  conclusions: z.array(Conclusion).describe('What it shows, strongest first; empty if nothing can be concluded.'),
  nodes: z.array(NodeEvidence),
});

export function shownEvidence(evidence: readonly GatheredEvidence[]): readonly z.output<typeof EvidenceGathering>[] {
  return gatheringsOf(evidence).map(({ at, occasion, conclusions, parts }) => ({
    at: new Date(at).toISOString(),
    occasion,
    conclusions: [...conclusions],
    nodes: parts.map(({ node, isFailing, failure, document, lastGood, note }) => ({
      node,
      is_failing: isFailing,
      failure,
      document,
      last_good: lastGood === null ? null : { at: new Date(lastGood.at).toISOString(), document: lastGood.document },
      note,
    })),
  }));
}
