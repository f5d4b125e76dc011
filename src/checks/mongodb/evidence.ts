import { serverPlan } from '../database/evidence.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';

/** The path to the port, and the chain of certificates if TLS is used. */
export function evidence(spec: Spec): EvidencePlan {
  return serverPlan(spec, spec.tls !== false);
}
