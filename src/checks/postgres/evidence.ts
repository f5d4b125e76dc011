import { serverPlan } from '../database/evidence.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { untilTls } from '../stream/presets.ts';
import type { Spec } from './spec.ts';

/** The path to the port, and the chain of certificates if TLS is used, which is agreed on after connecting. */
export function evidence(spec: Spec): EvidencePlan {
  const steps = untilTls('postgres') ?? [];
  return serverPlan(
    spec,
    spec.tls !== false,
    steps.filter(({ do: action }) => action !== 'starttls'),
  );
}
