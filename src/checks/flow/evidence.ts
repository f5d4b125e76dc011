import { secretsInText } from '../evidence/redaction.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { targetOf } from '../http/redirect.ts';
import { secretsOf } from './secrets.ts';
import type { Spec } from './spec.ts';

/** The path to the host and its chain of certificates; no request, as a step depends on those before it. */
export function evidence(spec: Spec): EvidencePlan | null {
  const target = targetOf(spec.host);
  if (typeof target === 'string') return null;
  const { name, port, secure } = target;
  const { ca, client, server_name: serverName = name } = spec.tls;
  const alpn = spec.http2 === 'auto' ? ['h2', 'http/1.1'] : ['http/1.1'];
  return {
    name,
    family: spec.family,
    path: { protocol: 'tcp', port },
    ...(secure && { tls: { port, serverName, ca, client, alpn, before: [] } }),
    timeoutMs: spec.timeout,
    secrets: [
      ...secretsOf(spec).flatMap(secretsInText),
      ...(client === undefined ? [] : [client.key, ...client.key.split('\n')]),
    ],
  };
}
