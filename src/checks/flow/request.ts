import { userAgent } from '#kernel/version.ts';
import { isHeaderText } from '../http/header-text.ts';
import { authorityOf, type HopRequest, type RedirectTarget, targetOf, targetOfUrl } from '../http/redirect.ts';
import type { FlowStep } from './spec.ts';
import { filled, filledBody, filledUrl } from './template.ts';

/** The first request of a step with the values filled in, or in words why there is none. */
export function requestOf(step: FlowStep, base: string, values: ReadonlyMap<string, string>): HopRequest | string {
  const url = filledUrl(step.url, values);
  if (!URL.canParse(url, base)) return 'its address is no URL';
  const parsed = new URL(url, base);
  if (parsed.username !== '' || parsed.password !== '') return 'its address has a user name or password';
  const target = targetOfUrl(parsed);
  if (typeof target === 'string') return `its address ${target}`;
  const headers: Record<string, string> = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
  for (const [name, template] of Object.entries(step.headers)) {
    const value = filled(template, values);
    if (!isHeaderText(value)) return `the value for its header "${name}" cannot be sent`;
    headers[name.toLowerCase()] = value;
  }
  const body = step.body === undefined ? null : filledBody(step.body, values, headers['content-type'] ?? '');
  return { target, method: step.method, headers, body, sameOrigin: isSameOrigin(target, targetOf(base)) };
}

// Client certificates and the name to verify are meant for the host alone.
function isSameOrigin(one: RedirectTarget, other: RedirectTarget | string): boolean {
  return typeof other !== 'string' && one.secure === other.secure && authorityOf(one) === authorityOf(other);
}
