import { endpointOf, portOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { evidenceFamily } from '../families.ts';
import { placeOf } from '../http/tunnel.ts';
import { dialoguePlan } from '../stream/evidence.ts';
import type { Spec } from './spec.ts';
import { conversationOf, tlsSettingsOf } from './conversation.ts';

/** The path to the port, TLS if it is started, and what is received; through a proxy, the path to that. */
export function evidence(spec: Spec): EvidencePlan {
  const endpoint = endpointOf(spec.host);
  const { proxy, timeout: timeoutMs } = spec;
  const family = evidenceFamily(spec.family);
  if (proxy !== undefined) {
    const { name, port } = placeOf(proxy);
    return { name, family, timeoutMs, path: { protocol: 'tcp', port }, secrets: [] };
  }
  return dialoguePlan(conversationOf(spec), {
    name: endpoint.name,
    family,
    timeoutMs,
    port: portOf(endpoint),
    tls: tlsSettingsOf(spec),
    isPreset: spec.preset !== undefined,
  });
}
