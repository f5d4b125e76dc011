import type { FailureCode } from '../../outcome.ts';
import type { PathHop } from '../../path/path-trace.ts';
import type { EvidenceDocument } from '../detail.ts';

/** What one node gathered, beside the last document of a time when it saw the target up. */
export interface NodeEvidence {
  readonly node: string;
  readonly isFailing: boolean;
  readonly failure: FailureCode | null;
  readonly document: EvidenceDocument;
  readonly lastGood: EvidenceDocument | null;
}

/** One sentence that the evidence proves. */
export interface Conclusion {
  /** The rule that it comes from: a stable name in lower case. */
  readonly rule: string;
  readonly text: string;
}

export interface TopicalConclusion extends Conclusion {
  /** Of several conclusions about one topic only the first is stated. */
  readonly topic: string;
}

export interface EvidenceView {
  readonly failing: readonly NodeEvidence[];
  readonly healthy: readonly NodeEvidence[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type ConclusionRule = (view: EvidenceView) => readonly TopicalConclusion[];

/** Makes a conclusion; the text gets its full stop. */
export function conclusion(topic: string, rule: string, text: string): readonly TopicalConclusion[] {
  return [{ topic, rule, text: `${text}.` }];
}

const mostNamed = 3;

/** `de1`, `de1 and fr1`, `de1, fr1 and us1`; above three `4 nodes`. */
export function joinNodes(evidence: readonly NodeEvidence[]): string {
  const names = evidence.map(({ node }) => node);
  return names.length > mostNamed ? `${names.length} nodes` : joinWords(names);
}

/** `a`, `a and b`, `a, b and c`. */
export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}

/** `a, b and 3 more`. */
export function joinSome(words: readonly string[], most = mostNamed): string {
  return words.length <= most ? joinWords(words) : `${words.slice(0, most).join(', ')} and ${words.length - most} more`;
}

/** Nothing if it holds for all failing nodes; otherwise for which. */
export function seenFrom(some: readonly NodeEvidence[], { failing }: EvidenceView): string {
  return some.length === failing.length ? '' : `, seen from ${joinNodes(some)}`;
}

/** The largest group of failing nodes for which `keyOf` gives the same; those with null are left out. */
export function largestGroup(
  evidence: readonly NodeEvidence[],
  keyOf: (one: NodeEvidence) => string | null,
): readonly NodeEvidence[] {
  const groups = new Map<string, NodeEvidence[]>();
  for (const one of evidence) {
    const key = keyOf(one);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].reduce<readonly NodeEvidence[]>(
    (best, group) => (group.length > best.length ? group : best),
    [],
  );
}

/** `198.51.100.9 (AS64500, hop 7)`. */
export function describeHop({ hop, as }: PathHop, address: string): string {
  const network = as === null || as === undefined ? '' : `AS${as.number}, `;
  return `${address} (${network}hop ${hop})`;
}

export const quoted = (text: string) => `"${text}"`;
