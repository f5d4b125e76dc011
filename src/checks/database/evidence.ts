import { endpointOf, portOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { secretsInText } from '../evidence/redaction.ts';
import type { Step } from '../stream/step.ts';
import type { Tls } from '../stream/tls.ts';

interface ServerSpec {
  readonly host: string;
  readonly family?: 4 | 6 | undefined;
  readonly timeout: number;
  readonly tls: boolean | Tls;
  readonly password?: string | undefined;
}

/** The path to the port and, if TLS starts with the connection or after `before`, the chain of certificates. */
export function serverPlan(spec: ServerSpec, isSecure: boolean, before: readonly Step[] = []): EvidencePlan {
  const { host, family, timeout, tls, password } = spec;
  const endpoint = endpointOf(host);
  const { name } = endpoint;
  const port = portOf(endpoint);
  const wishes = typeof tls === 'object' ? tls : null;
  return {
    name,
    family,
    path: { protocol: 'tcp', port },
    ...(isSecure && { tls: { port, serverName: wishes?.server_name ?? name, ca: wishes?.ca, alpn: [], before } }),
    timeoutMs: timeout,
    secrets: password === undefined ? [] : secretsInText(password),
  };
}
