import { singleLine } from '#kernel/text.ts';
import { isSecretHeader } from '../http/redirect.ts';
import type { Spec } from './spec.ts';

// Shorter ones would blank out ordinary words and could be guessed anyway.
const shortest = 4;

/** Takes values, captures, cookies and secret headers out of texts that may come from the server. */
export function hideAll(secrets: Iterable<string>): (text: string) => string {
  const spellings = [...secrets].flatMap((secret) => [
    secret,
    singleLine(secret, secret.length + 1),
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
  ]);
  const all = [...new Set(spellings)]
    .filter((secret) => secret.length >= shortest)
    .toSorted((one, other) => other.length - one.length);
  return (text) => all.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}

/** What of a spec is secret before anything is captured. */
export function secretsOf({ values, steps }: Spec): readonly string[] {
  const headers = steps.flatMap((step) => Object.entries(step.headers));
  const secret = headers.flatMap(([name, value]) => (isSecretHeader(name) ? [value, ...value.split(/[\s=;,]+/)] : []));
  return [...Object.values(values), ...secret];
}
