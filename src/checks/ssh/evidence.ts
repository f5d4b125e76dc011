import { serverPlan } from '../database/evidence.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';

/** The path to the port. */
export function evidence(spec: Spec): EvidencePlan {
  return serverPlan({ ...spec, tls: false, password: spec.key }, false);
}
