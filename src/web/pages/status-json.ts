import { builtInLanguages, englishOf } from '#languages/languages.ts';
import type { ShownState, ShownStatus } from '../state/shown.ts';
import { html } from './markup.ts';
import { statusSentence, type StatusValue, worstStatus } from './status.ts';

const english = englishOf(builtInLanguages);

// Programs know the states that a check can give.
const statusFor = (one: ShownState): ShownStatus => (one === 'waiting' ? 'unknown' : one);

/** A status page for programs, in English. */
export function statusJson(value: StatusValue) {
  return {
    title: value.title,
    status: statusFor(worstStatus(value)),
    sentence: statusSentence(value, english),
    services: value.services.map(({ name, status, since, past }) => ({
      name,
      status: statusFor(status),
      since: since === null ? null : new Date(since).toISOString(),
      uptime_90d: past?.uptime ?? null,
      uptime_since: past === null || past.since === null ? null : new Date(past.since).toISOString(),
    })),
    notes: value.notes.map(({ id, words, createdAt, endsAt, thread, stage, targets }) => ({
      id,
      thread,
      stage,
      services: value.services.filter(({ target }) => targets.includes(target)).map(({ name }) => name),
      words,
      at: new Date(createdAt).toISOString(),
      until: endsAt === null ? null : new Date(endsAt).toISOString(),
    })),
    maintenance: value.maintenance.map(({ from, to, services }) => ({
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      services,
    })),
    incidents: value.outages.map(({ service, from, to }) => ({
      service,
      from: new Date(from).toISOString(),
      to: to === null ? null : new Date(to).toISOString(),
    })),
  };
}

/** A badge: words on the left, a state or a figure on the right. */
export function badge(left: string, right: string, status: ShownState): string {
  const wide = (text: string) => 14 + Math.round(text.length * 6.6);
  const [a, b] = [wide(left), wide(right)];
  return String(
    html`<svg xmlns="http://www.w3.org/2000/svg" width="${a + b}" height="20" role="img" aria-label="${left}: ${right}"><title>${left}: ${right}</title><rect width="${a + b}" height="20" rx="4" fill="#3b4248"/><path fill="${badgeColours[status]}" d="M${a} 0h${b - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-${b - 4}z"/><g fill="#fff" font-family="system-ui,Verdana,sans-serif" font-size="11" text-anchor="middle"><text x="${a / 2}" y="14">${left}</text><text x="${a + b / 2}" y="14">${right}</text></g></svg>`,
  );
}

const badgeColours: Readonly<Record<ShownState, string>> = {
  up: '#1a7f4b',
  partial: '#8f5b00',
  down: '#b9251c',
  unknown: '#66717b',
  waiting: '#66717b',
  maintenance: '#3f5fb0',
};
