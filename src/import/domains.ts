import { parse } from 'tldts';
import { dayMs } from '#kernel/units.ts';
import { durationWithin } from './convert.ts';
import type { Draft } from './draft.ts';

/** A target that was not to outlive the registration of its domain. */
export interface DomainTarget {
  readonly place: string;
  readonly title: string;
  readonly domain: string;
  /** How long before its expiry to notify. */
  readonly withinMs: number;
  /** The rule about being down. */
  readonly rule: string;
  readonly notify: readonly string[];
}

/** The registered domain in a URL or a name; null if there is none. */
export function domainOf(host: string): string | null {
  const { domain, isIcann } = parse(host);
  return isIcann === true ? domain : null;
}

/** Adds a target for each domain, with all recipients that asked for it and the longest of their times. */
export function addDomains(draft: Draft, wishes: readonly DomainTarget[], place: string): void {
  for (const [domain, [first, ...others]] of Map.groupBy(wishes, (wish) => wish.domain)) {
    if (first === undefined) continue;
    const all = [first, ...others];
    const within = durationWithin(Math.max(...all.map(({ withinMs }) => withinMs)), dayMs, 365 * dayMs);
    const name = draft.target({
      place: first.place,
      title: `domain ${domain}`,
      origin: null,
      keys: {
        check: 'domain',
        host: domain,
        every: '1h',
        rules: [first.rule, draft.rule(`domain-${within}`, { domain: { expires_within: within } })],
        notify: [...new Set(all.flatMap(({ notify }) => notify))],
      },
    });
    for (const wish of all)
      draft.note(
        'differs',
        wish.place,
        `${wish.title}: its domain is a separate target, ${name}, and not part of being up`,
      );
  }
  if (wishes.length > 0)
    draft.note(
      'differs',
      place,
      'everywhere: a domain whose registry has neither RDAP nor WHOIS is notified once as UNKNOWN',
    );
}
