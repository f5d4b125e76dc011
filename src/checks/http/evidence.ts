import type { EvidencePlan } from '../evidence/plan.ts';
import { evidenceFamily } from '../families.ts';
import { firstRequest } from './request.ts';
import { evidenceSecretsOf } from './secrets.ts';
import type { Spec } from './spec.ts';
import { placeOf } from './tunnel.ts';

const behindProxy = 'the target is behind a proxy';

/** The path to the server or the proxy, the chain of certificates unless a proxy is before it, and the response. */
export function evidence(spec: Spec): EvidencePlan {
  const { target } = firstRequest(spec);
  const { proxy, family } = spec;
  const { name, port } = proxy === undefined ? target : placeOf(proxy);
  const { ca, client, server_name: serverName = target.name } = spec.tls;
  const alpn = spec.http2 === 'auto' ? ['h2', 'http/1.1'] : ['http/1.1'];
  return {
    name,
    family: evidenceFamily(family),
    path: { protocol: 'tcp', port },
    ...(target.secure && {
      tls: proxy === undefined ? { port, serverName, ca, client, alpn, before: [] } : { unavailable: behindProxy },
    }),
    request: { spec },
    timeoutMs: spec.timeout,
    secrets: evidenceSecretsOf(spec),
  };
}
