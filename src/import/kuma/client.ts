import type { DraftEntry, DifferenceReporter } from '../draft.ts';
import { noSuchProxy, oauth2Of } from '../http-client.ts';
import { type KumaMonitor, KumaProxy } from './schema.ts';

/** The proxies that are switched on, by id. */
export function proxiesOf(rows: readonly unknown[]): ReadonlyMap<string, KumaProxy> {
  const proxies = rows.map((row) => KumaProxy.parse(row)).filter(({ active }) => active);
  return new Map(proxies.map((proxy) => [proxy.id, proxy]));
}

const httpTypes: readonly (string | undefined)[] = ['http', 'keyword', 'json-query'];

/** The keys of a check that tell how it gets to its target, or why none can. */
export function clientKeysOf(
  monitor: KumaMonitor,
  proxies: ReadonlyMap<string, KumaProxy>,
  say: DifferenceReporter,
): DraftEntry {
  const { type = '', proxy_id: id = '', auth_method: method } = monitor;
  const through = proxies.get(id);
  const isHttp = httpTypes.includes(type);
  if (method === 'ntlm') return { leftOut: 'it signs in by ntlm, which no check can do' };
  if (!isHttp && through !== undefined)
    return { leftOut: 'it is reached through a proxy, which only http checks can do' };
  if (!isHttp && method === 'oauth2-cc') return { leftOut: 'it signs in by OAuth2, which only http checks can do' };
  const proxy = through === undefined ? undefined : proxyOf(through);
  if (proxy === null) return { leftOut: noSuchProxy };
  if (method !== 'oauth2-cc') return { proxy };
  if (proxy !== undefined) say('differs', 'its token endpoint is asked through the proxy as well');
  return { proxy, oauth2: signInOf(monitor) };
}

// `socks` and `socks5h` have the proxy resolve names, `socks5` the program itself (socks-proxy-agent).
const schemes: ReadonlyMap<string, string> = new Map([
  ['http', 'http'],
  ['https', 'https'],
  ['socks', 'socks5h'],
  ['socks5', 'socks5'],
  ['socks5h', 'socks5h'],
]);

function proxyOf({ protocol = '', host = '', port = '', auth, username = '', password = '' }: KumaProxy) {
  const scheme = schemes.get(protocol);
  if (scheme === undefined) return null;
  const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`;
  return auth ? { url, username, password } : { url };
}

function signInOf(monitor: KumaMonitor) {
  return oauth2Of({
    tokenUrl: monitor.oauth_token_url ?? '',
    id: monitor.oauth_client_id ?? '',
    secret: monitor.oauth_client_secret ?? '',
    scopes: (monitor.oauth_scopes ?? '').split(/\s+/).filter((scope) => scope !== ''),
    audience: monitor.oauth_audience,
    inBody: monitor.oauth_auth_method === 'client_secret_post',
  });
}
