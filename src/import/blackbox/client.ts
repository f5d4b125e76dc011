import { z } from 'zod';
import type { DraftEntry, DifferenceReporter } from '../draft.ts';
import { noSuchProxy, oauth2Of, proxyAt, sentInHeader, verifiedEndpoint } from '../http-client.ts';
import { Text, Tls } from './shared-settings.ts';

const OAuth2 = z.looseObject({
  client_id: Text.default(''),
  client_secret: Text.optional(),
  token_url: Text.default(''),
  scopes: z.array(Text).default([]),
  endpoint_params: z.record(z.string(), Text).default({}),
  tls_config: Tls,
});

/** What a module says of the way to its targets. */
export const way = {
  proxy_url: Text.optional(),
  skip_resolve_phase_with_proxy: z.boolean().default(false),
  oauth2: OAuth2.optional(),
};
const HttpVariant = z.looseObject(way);
type HttpVariant = z.output<typeof HttpVariant>;

const barred = ['proxy_from_environment', 'no_proxy', 'proxy_connect_header', 'proxy_connect_headers'];

/** The keys of an http check that tell how it gets to its target, or why none can. */
export function clientKeysOf(settings: HttpVariant, say: DifferenceReporter): DraftEntry {
  const cannot = barred.find((key) => settings[key] !== undefined && settings[key] !== false);
  if (cannot !== undefined) return { leftOut: `its module has ${cannot}, which no check can do` };
  const { proxy_url: proxyUrl, oauth2 } = settings;
  const proxy = proxyUrl === undefined ? undefined : proxyAt(proxyUrl);
  if (proxy === null) return { leftOut: noSuchProxy };
  if (proxy !== undefined && !settings.skip_resolve_phase_with_proxy)
    say('differs', 'its proxy resolves the names of targets, and the node does not as well');
  if (oauth2 === undefined) return { proxy };
  const signIn = signInOf(oauth2, say);
  if (typeof signIn === 'string') return { leftOut: signIn };
  if (proxy !== undefined) say('differs', 'its token endpoint is asked through the proxy as well');
  return { proxy, oauth2: signIn };
}

function signInOf(written: z.output<typeof OAuth2>, say: DifferenceReporter) {
  const { client_id: id, client_secret: secret, token_url: tokenUrl, scopes, tls_config: tls } = written;
  const { audience, ...params } = written.endpoint_params;
  const [param] = Object.keys(params);
  if (param !== undefined) return `its module sends ${param} to a token endpoint, which no check can do`;
  if (secret === undefined)
    return 'its module has no client secret, or in a file: give it in oauth2.client_secret_file';
  if (written['proxy_url'] !== undefined) return 'its module has a proxy for the token endpoint alone';
  if (tls.ca_file !== undefined || tls.cert_file !== undefined)
    return 'its module names certificates in files for the token endpoint: give them in oauth2.ca';
  if (tls.insecure_skip_verify) say('differs', verifiedEndpoint);
  say('differs', sentInHeader);
  return oauth2Of({ tokenUrl, id, secret, scopes, audience });
}
