import { type Conclusion, conclude, type EvidenceDocument, type FailureCode } from '#checks/index.ts';

/** Why evidence was gathered: an incident opened, its cause changed, a long one ended, or an operator asked. */
export const evidenceOccasions = ['opened', 'cause_changed', 'ended', 'demand'] as const;
export type EvidenceOccasion = (typeof evidenceOccasions)[number];

/** What one node gathered at one moment, or why it did not. Times are milliseconds since the epoch. */
export interface GatheredEvidence {
  readonly at: number;
  readonly occasion: EvidenceOccasion;
  /** Empty for a note that is about no node. */
  readonly node: string;
  readonly isFailing: boolean;
  readonly failure: FailureCode | null;
  /** Null if there is none; then the note says why. */
  readonly document: EvidenceDocument | null;
  /** What the node gathered the last time before that it saw the target up, if it is known. */
  readonly lastGood: GoodEvidence | null;
  readonly note: string | null;
}

export interface GoodEvidence {
  readonly at: number;
  readonly document: EvidenceDocument;
}

/** One gathering: everything that was gathered for an incident at one moment. */
export interface EvidenceGathering {
  readonly at: number;
  readonly occasion: EvidenceOccasion;
  readonly parts: readonly GatheredEvidence[];
  readonly conclusions: readonly Conclusion[];
}

/** Where evidence is stored. */
export interface EvidenceStore {
  /** What was gathered for an incident, the oldest first. */
  evidenceOf(incident: string): readonly GatheredEvidence[];
  /** Stores what was gathered for an incident at one moment. Of too much for one incident, the oldest but the first goes. */
  addEvidence(incident: string, evidence: readonly GatheredEvidence[]): void;
  /** What a node last gathered about a target that it saw up, or null. */
  goodEvidence(target: string, node: string): GoodEvidence | null;
  /** When that was, for all targets and nodes. */
  goodEvidenceTimes(): readonly { readonly target: string; readonly node: string; readonly at: number }[];
  saveGoodEvidence(target: string, node: string, good: GoodEvidence): void;
}

/** The gatherings of an incident with what each of them shows, the oldest first. */
export function gatheringsOf(evidence: readonly GatheredEvidence[]): readonly EvidenceGathering[] {
  return [...Map.groupBy(evidence, ({ at }) => at)].flatMap(([at, parts]) => {
    const [first] = parts;
    return first === undefined ? [] : [{ at, occasion: first.occasion, parts, conclusions: concluded(parts, at) }];
  });
}

/**
 * What is stated of the cause of an incident: the conclusions of its newest gathering that has any and was not after its end; otherwise why
 * nothing was gathered.
 */
export function evidenceInWords(evidence: readonly GatheredEvidence[]): readonly string[] {
  const gatherings = gatheringsOf(evidence).filter(({ occasion }) => occasion !== 'ended');
  const concluding = gatherings.findLast(({ conclusions }) => conclusions.length > 0);
  if (concluding !== undefined) return concluding.conclusions.map(({ text }) => text);
  const notes = gatherings.at(-1)?.parts.flatMap(({ node, note }) => (node === '' && note !== null ? [note] : []));
  return notes ?? [];
}

/** What a gathering shows. */
function concluded(parts: readonly GatheredEvidence[], at: number): readonly Conclusion[] {
  const known = parts.flatMap(({ node, isFailing, failure, document, lastGood }) =>
    document === null ? [] : [{ node, isFailing, failure, document, lastGood: lastGood?.document ?? null }],
  );
  return conclude(known, at);
}
