import { defineCheck } from '../check.ts';
import { EvidenceDocument } from './detail.ts';
import { gatherMs } from './limits.ts';
import { lines } from './lines.ts';
import { type PlanOf, specWith } from './spec.ts';

/** Gathers what a node can see of a target at the moment of a failure. It is up whatever is found, and down never. */
export const evidenceBy = (planOf: PlanOf) =>
  defineCheck({
    type: 'evidence',
    summary: 'Gathers what a node sees of a target that fails: path, names, TLS, response, and its own uplink.',
    Spec: specWith(planOf),
    Detail: EvidenceDocument,
    isInternal: true,
    phases: [],
    facts: [],
    deadlineMs: () => gatherMs,
    port: () => null,
    lines,
    row: null,
  });
