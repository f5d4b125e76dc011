import { endpointOf, portOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { dialoguePlan } from '../stream/evidence.ts';
import { conversationOf, type Spec, tlsSettingsOf } from './spec.ts';

/** The path to the port, TLS if it is started, and what is received. */
export function evidence(spec: Spec): EvidencePlan {
  const endpoint = endpointOf(spec.host);
  return dialoguePlan(conversationOf(spec), {
    name: endpoint.name,
    family: spec.family,
    timeoutMs: spec.timeout,
    port: portOf(endpoint),
    tls: tlsSettingsOf(spec),
    isPreset: spec.preset !== undefined,
  });
}
