import { endpointOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { evidenceFamily } from '../families.ts';
import { dialoguePlan } from '../stream/evidence.ts';
import { untilTls } from '../stream/presets.ts';
import type { Spec } from './spec.ts';
import { tlsPortOf } from './port.ts';

/** The path to the port, the chain of certificates, and what is received before TLS starts. */
export function evidence(spec: Spec): EvidencePlan {
  const endpoint = endpointOf(spec.host);
  const steps = (spec.starttls === undefined ? null : untilTls(spec.starttls)) ?? [{ do: 'starttls' } as const];
  return dialoguePlan(steps, {
    name: endpoint.name,
    family: evidenceFamily(spec.family),
    timeoutMs: spec.timeout,
    port: tlsPortOf(endpoint),
    tls: spec,
    isPreset: true,
  });
}
