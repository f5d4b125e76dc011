import type { Incident } from '#monitor/judge/incident.ts';
import type { LiveTarget } from '../state/board.ts';
import { stateOf, type ShownState } from '../state/shown.ts';
import type { StatusNote } from '../state/notes.ts';
import type { VisitorLanguage, TextKey } from '#languages/language.ts';
import { dayBars, dayTextsIn } from './day-bars.ts';
import { html, type Markup, nothing, state } from './markup.ts';
import type { Past } from './past.ts';
import type { PastOutage } from './status-past.ts';
import type { StatusPlace } from './status-place.ts';
import { pastList, threadPart, threadsOf } from './status-threads.ts';
import { momentIn, phrase, roughDuration } from './visitor.ts';

/** A public page: some targets under names of their own. */
export interface StatusValue {
  readonly title: string;
  /** Whether visitors can subscribe by mail. */
  readonly canSubscribe?: boolean;
  readonly services: readonly StatusService[];
  /** What people say, the newest first. */
  readonly notes: readonly StatusNote[];
  readonly maintenance: readonly PlannedMaintenance[];
  /** Headings over services, each with the targets below it; services in none come first. */
  readonly groups: readonly StatusGroup[];
  /** Past incidents, the newest first. */
  readonly outages: readonly PastOutage[];
  /** The notes of threads that are over, the newest first. */
  readonly pastNotes: readonly StatusNote[];
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
export function statusSentence({ services: all }: Pick<StatusValue, 'services'>, language: VisitorLanguage): string {
  const services = all.filter(({ status }) => status !== 'waiting');
  if (services.length === 0 && all.length > 0) return language.say('waiting');
  const down = services.filter(({ status }) => status === 'down').map(({ name }) => name);
  if (down.length > mostNames) return language.say('downMany', { count: down.length });
  if (down.length > 0) return language.say('down', { count: down.length, names: language.list(down) });
  if (services.some(({ status }) => status === 'partial')) return language.say('partial');
  if (services.every(({ status }) => status === 'unknown')) return language.say('unknown');
  const isMaintained = services.some(({ status }) => status === 'maintenance');
  if (services.some(({ status }) => status === 'unknown'))
    return language.say(isMaintained ? 'someUnknownInMaintenance' : 'someUnknown');
  return language.say(isMaintained ? 'inMaintenance' : 'up');
}

const mostNames = 3;

/** A state in words. */
export const stateIn = (language: VisitorLanguage, one: ShownState): string => language.say(stateKeys[one]);

const stateKeys = {
  up: 'stateUp',
  partial: 'statePartial',
  down: 'stateDown',
  unknown: 'stateUnknown',
  maintenance: 'stateMaintenance',
  waiting: 'stateWaiting',
} as const satisfies Readonly<Record<ShownState, TextKey>>;

/** The worst state of all services. What is unknown may be down. */
export function worstStatus({ services }: Pick<StatusValue, 'services'>): ShownState {
  const order: readonly ShownState[] = ['down', 'partial', 'unknown', 'up', 'maintenance', 'waiting'];
  return order.find((one) => services.some(({ status }) => status === one)) ?? 'unknown';
}

/** The title of the page, as a browser's tab shows it. */
export const statusTitle = (value: StatusValue, language: VisitorLanguage): string =>
  `${value.title}: ${statusSentence(value, language)}`;

/** The page, part by part. */
export function statusParts(value: StatusValue, language: VisitorLanguage): ReadonlyMap<string, Markup> {
  const services = value.services.map((service, index) => {
    const name = `s-${index}`;
    const level = value.groups.length === 0 ? 2 : 3;
    return [name, servicePart(name, service, { level, now: value.now, language })] as const;
  });
  const asOf = { time: momentIn(language, Math.floor(value.now / 60_000) * 60_000, 'short') };
  return new Map([
    [
      'head',
      html`<div data-part="head"><p class="soft">${value.title}</p><h1>${state(worstStatus(value), '')} ${statusSentence(value, language)}</h1></div>`,
    ],
    ['notes', notesPart(value, language)],
    ['maintenance', maintenancePart(value, language)],
    ...services,
    ['outages', outagesPart(value, language)],
    ['as-of', html`<p class="small soft" data-part="as-of">${phrase(language, 'asOf', asOf)}</p>`],
  ]);
}

interface ServiceView {
  readonly level: 2 | 3;
  readonly now: number;
  readonly language: VisitorLanguage;
}

function servicePart(part: string, service: StatusService, { level, now, language }: ServiceView): Markup {
  const { name, status, past, incidents, since } = service;
  const heading = level === 2 ? html`<h2>${name}</h2>` : html`<h3>${name}</h3>`;
  const bars =
    past === null
      ? nothing
      : html`${dayBars(past, now, null, dayTextsIn(language))}<p class="row spread small soft"><span>${language.say('daysAgo')}</span><span data-readout>${availability(past, language)}</span><span>${language.say('today')}</span></p>`;
  const began = since === null ? nothing : phrase(language, 'since', { time: momentIn(language, since) });
  return html`<section class="paper" data-part="${part}"><div class="row spread">${heading}${state(status, stateIn(language, status))}</div>${bars}${incidents.length === 0 || since === null ? nothing : html`<p class="small">${began}</p>`}</section>`;
}

function availability({ uptime, since, knownMs }: Past, language: VisitorLanguage): Markup {
  if (uptime === null) return html`${language.say('uptimeUnknown')}`;
  const share = language.percent(uptime);
  if (since === null || knownMs === null) return html`${language.say('uptime', { share })}`;
  const duration = roughDuration(language, knownMs);
  return phrase(language, 'uptimeSince', { share, time: momentIn(language, since, 'short'), duration });
}

/** The whole page. */
export function statusContent(value: StatusValue, language: VisitorLanguage, place: StatusPlace): Markup {
  const parts = statusParts(value, language);
  const part = (name: string) => parts.get(name) ?? nothing;
  const grouped = new Set(value.groups.flatMap(({ targets }) => targets));
  const partsOf = (isIn: (target: string) => boolean) =>
    value.services.flatMap(({ target }, index) => (isIn(target) ? [part(`s-${index}`)] : []));
  const groups = value.groups.map(
    ({ name, targets }) =>
      html`<section class="group"><h2>${name}</h2>${partsOf((target) => targets.includes(target))}</section>`,
  );
  const query = `?lang=${language.code}`;
  return html`${part('head')}${part('notes')}${part('maintenance')}${partsOf((target) => !grouped.has(target))}${groups}${part('outages')}<p><a href="${place.archive}">${language.say('archive')}</a></p>${part('as-of')}<p class="row small">${language.say('follow')}: ${value.canSubscribe === true ? html`<a href="${place.subscribe}">${language.say('subscribe')}</a> ` : nothing}<a href="${place.file('atom')}${query}">${language.say('feed')}</a> <a href="${place.file('ics')}">${language.say('calendar')}</a> <a href="${place.file('json')}">${language.say('json')}</a></p>`;
}

function outagesPart({ outages, pastNotes, services, now }: StatusValue, language: VisitorLanguage): Markup {
  const past = { outages, notes: pastNotes, services, now };
  return html`<section data-part="outages"><h2>${language.say('past')}</h2>${pastList(past, language, 'noPast', 'ago')}</section>`;
}

function notesPart({ notes, services }: StatusValue, language: VisitorLanguage): Markup {
  const items = threadsOf(notes).map((thread) => threadPart(thread, services, language));
  return html`<div data-part="notes">${items.length === 0 ? nothing : html`<section aria-label="${language.say('notes')}">${items}</section>`}</div>`;
}

function maintenancePart({ maintenance, now }: StatusValue, language: VisitorLanguage): Markup {
  const items = maintenance.map(({ from, to, services }) => {
    const span = phrase(language, 'span', { from: momentIn(language, from), to: momentIn(language, to) });
    return html`<li>${state('maintenance', language.say(from <= now ? 'goesOn' : 'planned'))} ${span} <span class="soft wrap">${language.list(services)}</span></li>`;
  });
  return html`<div data-part="maintenance">${items.length === 0 ? nothing : html`<section class="paper"><h2>${language.say('maintenance')}</h2><ul class="plain">${items}</ul></section>`}</div>`;
}
