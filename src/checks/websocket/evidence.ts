import { endpointOf, portOf } from '../endpoint.ts';
import type { EvidencePlan } from '../evidence/plan.ts';
import { secretsInHeaders, secretsInText, secretsInUrl } from '../evidence/redaction.ts';
import { Spec as HttpSpec } from '../http/spec.ts';
import type { Spec } from './spec.ts';
import { isSecure } from './secure.ts';

/** The path to the port, the chain of certificates, and the response to the upgrade. */
export function evidence(spec: Spec): EvidencePlan {
  const endpoint = endpointOf(spec.host);
  const { name } = endpoint;
  const port = portOf(endpoint);
  const { server_name: serverName = name, ca } = spec.tls;
  const request = requestOf(spec);
  return {
    name,
    family: spec.family,
    path: { protocol: 'tcp', port },
    ...(isSecure(endpoint) && { tls: { port, serverName, ca, alpn: ['http/1.1'], before: [] } }),
    ...(request !== undefined && { request: { spec: request, upgrade: true } }),
    timeoutMs: spec.timeout,
    secrets: [
      ...secretsInHeaders(spec.headers),
      ...secretsInUrl(spec.host),
      ...(spec.send === undefined ? [] : secretsInText(spec.send)),
    ],
  };
}

// Undefined for headers that no request over HTTP may have.
function requestOf({ host, headers, protocol, family, tls }: Spec): HttpSpec | undefined {
  const { ca, server_name, verify } = tls;
  return HttpSpec.safeParse({
    type: 'http',
    host: host.replace(/^ws/, 'http'),
    headers: { ...headers, ...(protocol !== undefined && { 'sec-websocket-protocol': protocol }) },
    ...(family !== undefined && { family }),
    http2: 'never',
    tls: { verify, ...(ca !== undefined && { ca }), ...(server_name !== undefined && { server_name }) },
  }).data;
}
