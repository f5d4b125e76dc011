import { delegationRules, namesRules } from './conclusions/names.ts';
import { changeRules, lastRules, pathRules } from './conclusions/path.ts';
import { receivedRules } from './conclusions/received.ts';
import { responseRules } from './conclusions/response.ts';
import { tlsRules } from './conclusions/tls.ts';
import { isCutOff, uplinkRules } from './conclusions/uplink.ts';
import type { Conclusion, EvidenceView, NodeEvidence, ConclusionRule } from './conclusions/view.ts';

export type { Conclusion, NodeEvidence } from './conclusions/view.ts';

const mostConclusions = 3;

// The most specific first. Each gives what is true of the evidence, or nothing.
const aboutTarget: readonly ConclusionRule[] = [
  ...namesRules,
  ...pathRules,
  ...tlsRules,
  ...responseRules,
  ...receivedRules,
  ...delegationRules,
  ...changeRules,
];

/**
 * What the evidence of several nodes shows, the most specific first, at most three sentences; none if nothing can be concluded. Nodes that are cut off
 * themselves count for no conclusion about the target.
 */
export function conclude(evidence: readonly NodeEvidence[], now: number): readonly Conclusion[] {
  const view = viewOf(evidence, now);
  const sound = viewOf(
    evidence.filter((one) => !isCutOff(one)),
    now,
  );
  const specific = aboutTarget.flatMap((rule) => rule(sound));
  const found = [
    // That a path is fine is worth a line only if nothing explains more.
    ...(specific.length > 0 ? specific : lastRules.flatMap((rule) => rule(sound))),
    // Cut off nodes come last: if all are, this is the only conclusion.
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
