import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';

/** The registration, and what name servers say of the domain. */
export function evidence(spec: Spec): EvidencePlan {
  return {
    name: spec.host,
    path: null,
    question: { name: spec.host, type: 'NS' },
    registration: spec,
    timeoutMs: spec.timeout,
    secrets: [],
  };
}
