import { endpointOf, portOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';

/** The path to the port, the chain of certificates, and the answer to the call. */
export function evidence(spec: Spec): EvidencePlan {
  const { host, family, tls, timeout } = spec;
  const endpoint = endpointOf(host);
  const { name } = endpoint;
  const port = portOf(endpoint);
  const wishes = typeof tls === 'object' ? tls : null;
  const serverName = wishes?.server_name ?? name;
  return {
    name,
    family,
    path: { protocol: 'tcp', port },
    ...(tls !== false && { tls: { port, serverName, ca: wishes?.ca, alpn: ['h2'], before: [] } }),
    call: spec,
    timeoutMs: timeout,
    secrets: [],
  };
}
