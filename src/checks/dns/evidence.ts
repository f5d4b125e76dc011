import { endpointOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import type { Spec } from './spec.ts';
import { askedName, askedTypes, portFor } from './question.ts';

/** The answers of all name servers concerned, and the path to the one that is asked and its TLS, if the spec names it. */
export function evidence(spec: Spec): EvidencePlan {
  const [type = 'A'] = askedTypes(spec);
  const question = { name: askedName(spec.host), type };
  if (spec.resolver === undefined)
    return { name: spec.host, path: null, question, timeoutMs: spec.timeout, secrets: [] };
  const { name, port } = endpointOf(spec.resolver);
  const asked = port ?? portFor(spec.protocol);
  const isEncrypted = spec.protocol === 'tls' || spec.protocol === 'https';
  const serverName = spec.tls?.server_name ?? name;
  return {
    name,
    path: { protocol: spec.protocol === 'udp' ? 'udp' : 'tcp', port: asked, sparesPort: true },
    question,
    resolver: spec,
    ...(isEncrypted && {
      tls: {
        port: asked,
        serverName,
        ca: spec.tls?.ca,
        alpn: spec.protocol === 'https' ? ['h2'] : ['dot'],
        before: [],
      },
    }),
    timeoutMs: spec.timeout,
    secrets: [],
  };
}
