import type { Incident } from '#monitor/judge/incident.ts';
import type { LiveTarget } from '../state/board.ts';
import { type ShownStatus, stateOf, type ShownState } from '../state/shown.ts';
import type { StatusNote } from '../state/notes.ts';
import { describeDuration } from '#kernel/units.ts';
import { dayBars } from './day-bars.ts';
import { foreign, html, type Markup, moment, nothing, recentMoment, shortMoment, state } from './markup.ts';
import { percent } from './overview.ts';
import type { Past } from './past.ts';
import type { PastOutage } from './status-past.ts';
import { roundedDuration } from './target-texts.ts';
import { texts } from './texts.ts';

/** A public page: some targets under names of their own. */
export interface StatusValue {
  readonly title: string;
  readonly services: readonly StatusService[];
  /** What people say, the newest first. */
  readonly notes: readonly StatusNote[];
  readonly maintenance: readonly PlannedMaintenance[];
  /** Headings over services, each with the targets below it; services in none come first. */
  readonly groups: readonly StatusGroup[];
  /** Past incidents, the newest first. */
  readonly outages: readonly PastOutage[];
  readonly now: number;
}

export interface StatusGroup {
  readonly name: string;
  readonly targets: readonly string[];
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

/** The state of all services in a sentence. */
export function statusSentence({ services: all }: Pick<StatusValue, 'services'>): string {
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
  const services = value.services.map((service, index) => {
    const name = `s-${index}`;
    const level = value.groups.length === 0 ? 2 : 3;
    return [name, servicePart(name, service, level, value.now)] as const;
  });
  return new Map([
    [
      'head',
      html`<div data-part="head"><p class="soft">${value.title}</p><h1>${state(worstStatus(value), '')} ${statusSentence(value)}</h1></div>`,
    ],
    ['notes', notesPart(value)],
    ['maintenance', maintenancePart(value)],
    ...services,
    ['outages', outagesPart(value)],
    [
      'as-of',
      html`<p class="small soft" data-part="as-of">${texts.status.asOf} ${shortMoment(Math.floor(value.now / 60_000) * 60_000)}</p>`,
    ],
  ]);
}

function servicePart(part: string, service: StatusService, level: 2 | 3, now: number): Markup {
  const words = texts.status;
  const { name, status, past, incidents, since } = service;
  const heading = level === 2 ? html`<h2>${name}</h2>` : html`<h3>${name}</h3>`;
  const bars =
    past === null
      ? nothing
      : html`${dayBars(past, now, null)}<p class="row spread small soft"><span>${words.daysAgo}</span><span data-readout>${availability(past)}</span><span>${words.today}</span></p>`;
  return html`<section class="paper" data-part="${part}"><div class="row spread">${heading}${state(status, words.states[status])}</div>${bars}${incidents.length === 0 || since === null ? nothing : html`<p class="small">${words.since} ${moment(since)}</p>`}</section>`;
}

function availability({ uptime, since, knownMs }: Past): Markup {
  if (uptime === null) return html`${texts.status.noUptime}`;
  const share = percent(uptime);
  if (since === null || knownMs === null) return html`${texts.status.uptime(share)}`;
  return html`${texts.status.uptimeSince(share)} ${shortMoment(since)} (${roundedDuration(knownMs)})`;
}

/** The whole page, which is at `path`, with its archive at `archive`. */
export function statusContent(value: StatusValue, path: string, archive: string): Markup {
  const parts = statusParts(value);
  const part = (name: string) => parts.get(name) ?? nothing;
  const grouped = new Set(value.groups.flatMap(({ targets }) => targets));
  const partsOf = (isIn: (target: string) => boolean) =>
    value.services.flatMap(({ target }, index) => (isIn(target) ? [part(`s-${index}`)] : []));
  const groups = value.groups.map(
    ({ name, targets }) =>
      html`<section class="group"><h2>${name}</h2>${partsOf((target) => targets.includes(target))}</section>`,
  );
  const { status: words } = texts;
  return html`${part('head')}${part('notes')}${part('maintenance')}${partsOf((target) => !grouped.has(target))}${groups}${part('outages')}<p><a href="${archive}">${words.archive}</a></p>${part('as-of')}<p class="row small">${words.follow}: <a href="${path}.atom">${words.feed}</a> <a href="${path}.ics">${words.calendar}</a> <a href="${path}.json">${words.json}</a></p>`;
}

/** Past incidents as a list with their beginnings written by `shown`, or the words `none`. */
export function outageList(outages: readonly PastOutage[], none: string, shown = moment): Markup {
  if (outages.length === 0) return html`<p class="soft">${none}</p>`;
  const items = outages.map(({ service, from, to }) => {
    const what = to === null ? texts.status.isDown : texts.status.wasDown(describeDuration(Math.max(0, to - from)));
    const words = `${service} ${what}`;
    return html`<li>${shown(from)} ${to === null ? state('down', words) : words}</li>`;
  });
  return html`<ol class="times">${items}</ol>`;
}

function outagesPart({ outages }: StatusValue): Markup {
  return html`<section data-part="outages"><h2>${texts.status.past}</h2>${outageList(outages, texts.status.noPast, recentMoment)}</section>`;
}

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
