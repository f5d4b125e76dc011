import { serverPlan } from '../database/evidence.ts';
import { asksForTls } from '../database/ports.ts';
import { endpointOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';
import { ports } from './ports.ts';

/** The path to the port, and the chain of certificates if TLS is used. */
export function evidence(spec: Spec): EvidencePlan {
  return serverPlan(spec, spec.tls !== false || asksForTls(endpointOf(spec.host), ports));
}
