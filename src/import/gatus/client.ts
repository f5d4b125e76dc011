import type { DraftEntry, DifferenceReporter } from '../draft.ts';
import { noSuchProxy, oauth2Of, proxyAt, verifiedEndpoint } from '../http-client.ts';
import type { GatusClient } from './schema.ts';

/** The keys of a check that tell how it gets to its target, or why none can. */
export function clientKeysOf(client: GatusClient, scheme: string, say: DifferenceReporter): DraftEntry {
  const { 'proxy-url': proxyUrl, oauth2 } = client;
  const isWeb = scheme === 'http' || scheme === 'https';
  const never = ['identity-aware-proxy', 'kerberos', 'tunnel'].find((key) => client[key] !== undefined);
  if (never !== undefined) return { leftOut: `it is reached by client.${never}, which no check can do` };
  const barred = isWeb ? undefined : (['proxy-url', 'oauth2'] as const).find((key) => client[key] !== undefined);
  if (barred !== undefined) return { leftOut: `it is reached by client.${barred}, which only http checks can do` };
  if (client.tls?.['certificate-file'] !== undefined)
    return { leftOut: 'it needs a client certificate: add tls.client with cert and key to a target of your own' };
  const proxy = proxyUrl === undefined ? undefined : proxyAt(proxyUrl);
  if (proxy === null) return { leftOut: noSuchProxy };
  if (oauth2 === undefined) return { proxy };
  if (client.insecure) say('differs', verifiedEndpoint);
  const { 'token-url': tokenUrl, 'client-id': id, 'client-secret': secret, scopes } = oauth2;
  return { proxy, oauth2: oauth2Of({ tokenUrl, id, secret, scopes }) };
}
