import { singleLine } from '#kernel/text.ts';
import { secretsInHeaders, secretsInText, secretsInUrl } from '../evidence/redaction.ts';
import { isSecretHeader } from './redirect.ts';
import { encodeBasic } from './request.ts';
import type { Spec } from './spec.ts';

// Shorter ones would blank out ordinary words and could be guessed anyway.
const shortest = 4;

/** Removes the secrets of a spec from texts that may come from the server, which can echo what it received. */
export function hideSecrets(spec: Spec, token: string | null = null): (text: string) => string {
  const secrets = secretsOf(spec, token);
  if (secrets.length === 0) return (text) => text;
  return (text) => secrets.reduce(hide, text);
}

// A text that was cut may end within a secret.
function hide(text: string, secret: string): string {
  let left = text.replaceAll(secret, '***');
  for (let length = secret.length - 1; length >= shortest && left.includes('…'); length -= 1) {
    left = left.replaceAll(`${secret.slice(0, length)}…`, '***…');
  }
  return left;
}

function secretsOf(spec: Spec, token: string | null): readonly string[] {
  const secrets: string[] = [];
  const { bearer, basic_auth: basic, oauth2, proxy } = spec;
  if (token !== null) secrets.push(token);
  if (oauth2?.client_secret !== undefined) secrets.push(oauth2.client_secret);
  if (proxy?.username !== undefined && proxy.password !== undefined) {
    const { username, password } = proxy;
    secrets.push(encodeBasic({ username, password }), password);
  }
  if (bearer !== undefined) secrets.push(bearer);
  if (basic !== undefined) secrets.push(encodeBasic(basic), basic.password);
  for (const [name, value] of Object.entries(spec.headers)) {
    if (isSecretHeader(name)) secrets.push(value, ...value.split(/[\s=;,]+/));
  }
  if (secrets.length === 0) return secrets;
  const spellings = secrets.flatMap((secret) => [
    secret,
    singleLine(secret, secret.length),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  return [...new Set(spellings)].filter((secret) => secret.length >= shortest).sort((a, b) => b.length - a.length);
}

/** Every text of a spec that evidence must not show: more than what makes a failure unreadable, as it shows whole responses. */
export function evidenceSecretsOf(spec: Spec): readonly string[] {
  const { headers, body, tls, host } = spec;
  return [
    ...secretsOf(spec, null),
    ...secretsInHeaders(headers),
    ...secretsInUrl(host),
    ...(body === undefined ? [] : secretsInText(body)),
    ...(tls.client === undefined ? [] : [tls.client.key, ...tls.client.key.split('\n')]),
  ];
}
