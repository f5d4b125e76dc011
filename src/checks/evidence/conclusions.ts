import { namesRules } from './conclusions/names.ts';
import { lastRules, pathRules } from './conclusions/path.ts';
import { receivedRules } from './conclusions/received.ts';
import { responseRules } from './conclusions/response.ts';
import { tlsRules } from './conclusions/tls.ts';
import { isCutOff, uplinkRules } from './conclusions/uplink.ts';
import type { Conclusion, EvidenceView, NodeEvidence, Rule } from './conclusions/view.ts';

export type { Conclusion, NodeEvidence } from './conclusions/view.ts';

const mostConclusions = 3;

// Most telling first. Each gives what is true of the evidence, or nothing.
const aboutTarget: readonly Rule[] = [
  ...namesRules,
  ...pathRules,
  ...tlsRules,
  ...responseRules,
  ...receivedRules,
  ...lastRules,
];

/**
 * What the evidence of several nodes shows, most telling first, at most three sentences; none if nothing can be concluded. Nodes that are cut off
 * themselves are left out of all conclusions about the target.
 */
export function conclude(evidence: readonly NodeEvidence[], now: number): readonly Conclusion[] {
  const view = viewOf(evidence, now);
  const sound = viewOf(
    evidence.filter((one) => !isCutOff(one)),
    now,
  );
  const found = [
    ...aboutTarget.flatMap((rule) => rule(sound)),
    // If every failing node is cut off, that is the cause; otherwise it is a note beside it.
    ...uplinkRules.flatMap((rule) => rule(view)),
  ];
  const seen = new Set<string>();
  const distinct = found.filter(({ topic }) => !seen.has(topic) && seen.add(topic));
  return distinct.slice(0, mostConclusions).map(({ rule, text }) => ({ rule, text }));
}

function viewOf(evidence: readonly NodeEvidence[], now: number): EvidenceView {
  const failing = evidence.filter(({ isFailing }) => isFailing);
  return { failing, healthy: evidence.filter(({ isFailing }) => !isFailing), now };
}
