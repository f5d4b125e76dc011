import type { Incident } from '#monitor/judge/incident.ts';
import type { LiveTarget } from '../state/board.ts';
import { type ShownStatus, stateOf, type ShownState } from '../state/shown.ts';
import type { StatusNote } from '../state/notes.ts';
import { dayBars } from './day-bars.ts';
import { foreign, html, type Markup, moment, nothing, shortMoment, state } from './markup.ts';
import { percent } from './overview.ts';
import type { Past } from './past.ts';
import { roundedDuration } from './target-texts.ts';
import { texts } from './texts.ts';

/** A public page: some targets under names of their own. */
export interface StatusValue {
  readonly title: string;
  readonly services: readonly StatusService[];
  /** What people say, the newest first. */
  readonly notes: readonly StatusNote[];
  readonly maintenance: readonly PlannedMaintenance[];
  readonly now: number;
}

/** Maintenance that goes on or comes. */
export interface PlannedMaintenance {
  readonly from: number;
  readonly to: number;
  /** Names on the page. */
  readonly services: readonly string[];
}

export interface StatusService {
  /** The name on the page. */
  readonly name: string;
  readonly target: string;
  readonly status: ShownState;
  readonly since: number | null;
  readonly past: Past | null;
  readonly incidents: readonly Incident[];
}

/** What a page shows of a target; one that is not watched any more is unknown. */
export function serviceOf(
  name: string,
  target: string,
  live: LiveTarget | undefined,
  past: Past | null,
): StatusService {
  if (live === undefined) return { name, target, status: 'unknown', since: null, past, incidents: [] };
  const { since, incidents } = live;
  const status = stateOf(live);
  return { name, target, status, since, past, incidents: incidents.filter(({ severity }) => severity === 'critical') };
}

function statusSentence({ services: all }: Pick<StatusValue, 'services'>): string {
  const words = texts.status;
  const services = all.filter(({ status }) => status !== 'waiting');
  if (services.length === 0 && all.length > 0) return words.waiting;
  const down = services.filter(({ status }) => status === 'down');
  if (down.length > 0) return words.down(down.map(({ name }) => name));
  if (services.some(({ status }) => status === 'partial')) return words.partial;
  if (services.every(({ status }) => status === 'unknown')) return words.unknown;
  if (services.some(({ status }) => status === 'unknown')) return words.someUnknown;
  return services.some(({ status }) => status === 'maintenance') ? words.inMaintenance : words.up;
}

function worstStatus({ services }: StatusValue): ShownState {
  const order: readonly ShownState[] = ['down', 'partial', 'up', 'maintenance', 'unknown', 'waiting'];
  return order.find((one) => services.some(({ status }) => status === one)) ?? 'unknown';
}

/** The title of the page, as a browser's tab shows it. */
export const statusTitle = (value: StatusValue): string => `${value.title}: ${statusSentence(value)}`;

/** The page, part by part. */
export function statusParts(value: StatusValue): ReadonlyMap<string, Markup> {
  const words = texts.status;
  const services = value.services.map(
    ({ name, status, past, incidents, since }, index) =>
      [
        `s-${index}`,
        html`<section class="paper" data-part="s-${index}"><div class="row spread"><h2>${name}</h2>${state(status, words.states[status])}</div>${
          past === null
            ? nothing
            : html`${dayBars(past, value.now, null)}<p class="row spread small soft"><span>${words.daysAgo}</span><span data-readout>${availability(past)}</span><span>${words.today}</span></p>`
        }${incidents.length === 0 || since === null ? nothing : html`<p class="small">${words.since} ${moment(since)}</p>`}</section>`,
      ] as const,
  );
  return new Map([
    [
      'head',
      html`<div data-part="head"><p class="soft">${value.title}</p><h1>${state(worstStatus(value), '')} ${statusSentence(value)}</h1></div>`,
    ],
    ['notes', notesPart(value)],
    ['maintenance', maintenancePart(value)],
    ...services,
  ]);
}

function availability({ uptime, since, knownMs }: Past): Markup {
  if (uptime === null) return html`${texts.status.noUptime}`;
  const share = percent(uptime);
  if (since === null || knownMs === null) return html`${texts.status.uptime(share)}`;
  return html`${texts.status.uptimeSince(share)} ${shortMoment(since)} (${roundedDuration(knownMs)})`;
}

export const statusContent = (value: StatusValue): Markup => html`${[...statusParts(value).values()]}`;

function notesPart({ notes }: StatusValue): Markup {
  const items = notes.map(
    ({ words, createdAt, endsAt }) =>
      html`<div class="paper note"><p class="wrap">${foreign(words)}</p><p class="small soft">${moment(createdAt)}${endsAt === null ? nothing : html`, ${texts.status.until} ${moment(endsAt)}`}</p></div>`,
  );
  return html`<div data-part="notes">${items.length === 0 ? nothing : html`<section aria-label="${texts.status.notes}">${items}</section>`}</div>`;
}

function maintenancePart({ maintenance, now }: StatusValue): Markup {
  const words = texts.status;
  const items = maintenance.map(
    ({ from, to, services }) =>
      html`<li>${state('maintenance', from <= now ? words.goesOn : words.planned)} ${moment(from)} ${words.to} ${moment(to)} <span class="soft wrap">${services.join(', ')}</span></li>`,
  );
  return html`<div data-part="maintenance">${items.length === 0 ? nothing : html`<section class="paper"><h2>${words.maintenance}</h2><ul class="plain">${items}</ul></section>`}</div>`;
}

/** The same for programs. */
// Programs know the states that a check can give.
const statusFor = (one: ShownState): ShownStatus => (one === 'waiting' ? 'unknown' : one);

export function statusJson(value: StatusValue) {
  return {
    title: value.title,
    status: statusFor(worstStatus(value)),
    sentence: statusSentence(value),
    services: value.services.map(({ name, status, since, past }) => ({
      name,
      status: statusFor(status),
      since: since === null ? null : new Date(since).toISOString(),
      uptime_90d: past?.uptime ?? null,
      uptime_since: past === null || past.since === null ? null : new Date(past.since).toISOString(),
    })),
    notes: value.notes.map(({ id, words, createdAt, endsAt }) => ({
      id,
      words,
      at: new Date(createdAt).toISOString(),
      until: endsAt === null ? null : new Date(endsAt).toISOString(),
    })),
    maintenance: value.maintenance.map(({ from, to, services }) => ({
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      services,
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
