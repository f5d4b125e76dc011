import { serverPlan } from '../database/evidence.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';

/** The path to the port. TLS starts inside the protocol's own packets, so that the chain is not asked for. */
export function evidence(spec: Spec): EvidencePlan {
  return serverPlan(spec, false);
}
