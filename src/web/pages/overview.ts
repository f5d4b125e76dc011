import { type NodeInfo, probedTypeNames, shownNode } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { createRests } from '#kernel/turns.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { Assets } from '../assets/assets.ts';
import type { LiveTarget } from '../state/board.ts';
import { stateOf, type ShownState } from '../state/shown.ts';
import { sparkline, stateBar, votesBar } from './drawings.ts';
import { targetHref } from './links.ts';
import {
  firstRows,
  groupOf,
  order,
  orderOf,
  type OverviewFilter,
  type OverviewSort,
  queryOf,
  sortKeyOf,
  sortOf,
} from './overview-filter.ts';
import { worldMap } from './map.ts';
import { devicesTexts } from './devices-texts.ts';
import { editTexts } from './edit-texts.ts';
import { cutInMiddle, html, type Markup, nothing, shapeOf, shortMoment, state } from './markup.ts';
import type { Past } from './past.ts';
import { type ReloadEntry, reloadPart } from './reloads.ts';
import { roundedDuration } from './target-texts.ts';
import { incidentsPart } from './open-incidents.ts';
import { noOverload, overloadNotice, type ShownOverload } from './overload.ts';
import { texts } from './texts.ts';

export interface OverviewValue {
  readonly now: number;
  readonly targets: readonly LiveTarget[];
  /** Those that the filter shows, in their order. */
  readonly shown: readonly LiveTarget[];
  readonly incidents: readonly Incident[];
  readonly nodes: readonly { readonly info: NodeInfo; readonly online: boolean }[];
  readonly past: (target: LiveTarget) => Past | null;
  readonly filter: OverviewFilter;
  /** Whether targets can be added on a page. */
  readonly canAdd?: boolean;
  /** The last attempt to reload the configuration. */
  readonly reload?: ReloadEntry | null;
  readonly overload?: ShownOverload;
  /** Whether notifications can be shown on devices. */
  readonly canPush?: boolean;
}

/** The state of everything in one sentence. */
export function overviewSentence({ targets, now }: Pick<OverviewValue, 'targets' | 'now'>): string {
  const states = Map.groupBy(targets, stateOf);
  const of = (wanted: ShownState) => states.get(wanted) ?? [];
  const down = of('down');
  const [first] = down.toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0));
  const words = texts.overview;
  if (targets.length === 0) return words.none;
  if (first !== undefined) {
    const ago = first.since === null ? null : describeDuration(now - first.since);
    return words.down({ down: down.length, up: of('up').length, all: targets.length, first: first.name, ago });
  }
  const others = {
    partial: of('partial').length,
    unknown: of('unknown').length,
    maintenance: of('maintenance').length,
    waiting: of('waiting').length,
  };
  return words.up({ up: of('up').length, all: targets.length, ...others });
}

/** The title of the page, as a browser's tab shows it. */
export const overviewTitle = (value: Parameters<typeof overviewSentence>[0]): string =>
  `${overviewSentence(value)} · ${texts.name}`;

function worstOf(targets: readonly LiveTarget[]): ShownState {
  const states = new Set(targets.map(stateOf));
  const worst = (['down', 'partial', 'unknown'] as const).find((one) => states.has(one));
  if (worst !== undefined) return worst;
  return states.has('up') || states.has('maintenance') ? 'up' : states.has('waiting') ? 'waiting' : 'unknown';
}

export function overviewHead(value: Pick<OverviewValue, 'targets' | 'now'>): Markup {
  return html`<div data-part="head"><h1>${state(worstOf(value.targets), '')} ${overviewSentence(value)}</h1></div>`;
}

/** What matters most, and takes little to draw: the state of everything, what is overloaded, and what is open. */
export function overviewTop(value: Pick<OverviewValue, 'targets' | 'now' | 'incidents' | 'overload'>): Markup {
  return html`${overviewHead(value)}
${overloadNotice(value.overload ?? noOverload)}
${incidentsPart(value)}`;
}

/** What is below `overviewTop`: the targets, and all that is about them. */
export function overviewRest(value: OverviewValue, assets: Pick<Assets, 'world' | 'url'>): Markup {
  const list = value.filter.view === 'wall' ? wall(value.shown) : table(value.shown, value);
  return html`${emptyOverview(value)}
${filters(value)}
${list}
${reloadPart(value.reload ?? null)}
${value.canAdd === true ? html`<p><a href="/add">${editTexts.title}</a></p>` : nothing}${value.canPush === true ? html`<p><a href="/devices">${devicesTexts.link}</a></p>` : nothing}
${mapPart(value.nodes, assets)}`;
}

/** The map of the nodes. */
export const mapPart = (nodes: OverviewValue['nodes'], assets: Pick<Assets, 'world' | 'url'>): Markup =>
  html`<div data-part="map">${worldMap(
    nodes.map(({ info, online }) => ({ node: info, state: online ? 'up' : 'unknown' })),
    assets,
  )}</div>`;

// For a new installation: what to do next.
function emptyOverview({ targets }: OverviewValue): Markup {
  const isDemo = targets.length <= 3 && targets.some(({ labels }) => labels['team'] === 'demo');
  if (!isDemo && targets.length > 0) return nothing;
  return html`<section class="paper"><h2>${texts.overview.welcome}</h2><ol>${texts.overview.steps.map((step) => html`<li>${step}</li>`)}</ol></section>`;
}

function filters({ targets, filter }: OverviewValue): Markup {
  if (targets.length < 4 && filter.text === '' && filter.state === '' && filter.label === '') return nothing;
  const words = texts.overview;
  const labels = [
    ...new Set(targets.flatMap(({ labels }) => Object.entries(labels).map(([key, value]) => `${key}:${value}`))),
  ].sort();
  const keys = [...new Set(labels.map((label) => label.slice(0, label.indexOf(':'))))];
  const option = (value: string, shown: string, now: string) =>
    html`<option value="${value}"${value === now ? html` selected` : nothing}>${shown}</option>`;
  return html`<form class="filters" method="get" action="/" role="search">
<div><label for="q">${words.text}</label><input type="search" id="q" name="q" value="${filter.text}"></div>
<div><label for="state">${words.state}</label><select id="state" name="state">${option('', words.any, filter.state)}${order.map((one) => option(one, texts.states[one], filter.state))}</select></div>
${
  labels.length === 0
    ? nothing
    : html`<div><label for="label">${words.label}</label><select id="label" name="label">${option('', words.any, filter.label)}${labels.slice(0, 300).map((one) => option(one, one.replace(':', ': '), filter.label))}</select></div>
<div><label for="group">${words.group}</label><select id="group" name="group">${option('', words.nothing, filter.group)}${keys.map((one) => option(one, one, filter.group))}</select></div>`
}
<div><label for="view">${words.view}</label><select id="view" name="view">${option('', words.list, filter.view)}${option('wall', words.wall, filter.view)}</select></div>
${filter.sort === '' ? nothing : html`<input type="hidden" name="sort" value="${filter.sort}">`}<button class="quiet">${words.show}</button></form>`;
}

function wall(targets: readonly LiveTarget[]): Markup {
  return html`<div class="wall" data-list="">${targets.map((target) => wallTile(target))}</div>`;
}

// The end of a name tells targets apart.
const keptOnTile = 5;

/** A target on the wall. */
export function wallTile(target: Pick<LiveTarget, 'name' | 'status' | 'firstDueAt'>): Markup {
  const { name } = target;
  const shown = stateOf(target);
  // Two elements at the most: there may be a thousand. A name is plain ASCII.
  const [start, end] = [name.slice(0, -keptOnTile), name.slice(-keptOnTile)];
  const cut = start === '' ? html`${name}` : html`<span>${start}</span>${end}`;
  return html`<a class="tile state ${shown}" data-part="w-${name}" data-order="${orderOf(target)}" href="${targetHref(name)}" title="${name}: ${texts.states[shown]}">${cut}</a>`;
}

function table(targets: readonly LiveTarget[], value: OverviewValue): Markup {
  const { group } = value.filter;
  const sort = sortOf(value.filter);
  const words = texts.overview;
  if (targets.length === 0) return value.targets.length === 0 ? nothing : html`<p class="soft">${words.noneShown}</p>`;
  const withBudgets = hasBudgets(value.targets);
  const rows = new Set(firstRows(targets, value.filter));
  const bodies = [...Map.groupBy(targets, (target) => groupOf(target, value.filter))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, members]) =>
        html`<tbody data-list="${name}">${group === '' ? nothing : groupHead(name, members, withBudgets)}${members.filter((target) => rows.has(target)).map((target) => targetRow(target, value.past(target), withBudgets, sort))}</tbody>`,
    );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.targets}"><table class="targets"><thead><tr>${sortable('name', words.target, value.filter)}<th scope="col">${words.seen}</th><th scope="col" class="wide">${words.days}</th>${sortable('uptime', words.uptime, value.filter, 'num')}${sortable('latency', words.latency, value.filter, 'wide')}${withBudgets ? html`<th scope="col" class="num wide">${words.budget}</th>` : nothing}</tr></thead>${bodies}</table></div>${rows.size === targets.length ? nothing : allRows(targets.length, value.filter)}`;
}

function allRows(count: number, filter: OverviewFilter): Markup {
  const href = `/?${queryOf({ ...filter, rows: 'all' })}`;
  return html`<p data-rest=""><a href="${href}">${texts.overview.allRows(count)}</a></p>`;
}

const directions = { name: 'ascending', uptime: 'ascending', latency: 'descending' } as const;

// The header of what rows are sorted by leads back to the order by state.
function sortable(by: Exclude<OverviewSort, ''>, word: string, filter: OverviewFilter, kind = ''): Markup {
  const isChosen = filter.sort === by;
  const query = queryOf({ ...filter, sort: isChosen ? '' : by });
  const direction = isChosen ? html` aria-sort="${directions[by]}"` : nothing;
  return html`<th scope="col" class="${kind}"${direction}><a href="/${query === '' ? '' : `?${query}`}" title="${isChosen ? texts.overview.sortByState : texts.overview.sort[by]}">${word}</a></th>`;
}

/** The row above the members of a group that are shown. */
export function groupHead(name: string, members: readonly LiveTarget[], withBudgets: boolean): Markup {
  const words = texts.overview;
  const up = members.filter(({ status }) => status === 'up').length;
  return html`<tr class="group" data-part="g-${name}"><th colspan="${withBudgets ? 6 : 5}" scope="rowgroup"><button type="button" class="fold" disabled aria-expanded="true">${name === '' ? words.noLabel : name}</button> <span class="soft">${words.groupUp(up, members.length)}</span></th></tr>`;
}

/** Whether rows tell what is left of budgets. */
export const hasBudgets = (targets: readonly LiveTarget[]): boolean => targets.some((target) => target.hasObjective);

interface RenderedRow {
  readonly of: readonly unknown[];
  readonly row: Markup;
}

// The row of a round is drawn once, however many look.
const drawn: Readonly<Record<OverviewSort, WeakMap<LiveTarget['entry'], RenderedRow>>> = {
  '': new WeakMap(),
  name: new WeakMap(),
  uptime: new WeakMap(),
  latency: new WeakMap(),
};

/** What a row shows besides its votes and its latency. */
export function rowFacts(target: LiveTarget, past: Past | null): readonly unknown[] {
  const { name, host, status, firstDueAt, incidents } = target;
  const shown = past === null ? [] : [past.days, uptimeWords(past), percent(past.budgetLeft)];
  return [name, host, status, firstDueAt, incidents.map(({ id }) => id).join('\n'), ...shown];
}

/** A target in the list. */
export function targetRow(
  target: LiveTarget,
  past: Past | null,
  withBudgets: boolean,
  sort: OverviewSort = '',
): Markup {
  const { entry, dueAt, rounds } = target;
  const place = sortKeyOf(target, past, sort);
  const of = [...rowFacts(target, past), dueAt, rounds, withBudgets, place];
  const known = drawn[sort].get(entry);
  if (known !== undefined && known.of.length === of.length && known.of.every((one, index) => one === of[index]))
    return known.row;
  const row = drawRow(target, past, withBudgets, place);
  drawn[sort].set(entry, { of, row });
  return row;
}

/** Draws the rows that a list will show, in turns: a first look at ten thousand does not keep others waiting. */
export async function drawRows(
  { targets, shown, filter, past }: OverviewValue,
  clock: Pick<Clock, 'elapsed'>,
): Promise<void> {
  if (filter.view === 'wall') return;
  const withBudgets = hasBudgets(targets);
  const rest = createRests(clock);
  for (const target of firstRows(shown, filter)) {
    targetRow(target, past(target), withBudgets, sortOf(filter));
    await rest();
  }
}

function drawRow(target: LiveTarget, past: Past | null, withBudgets: boolean, place: string): Markup {
  const { name, host, votes, recent, rounds, firstDueAt } = target;
  const status = stateOf(target);
  const seen =
    firstDueAt === undefined
      ? votesBar(
          votes.statuses().map((vote) => ({ node: shownNode(vote.node.name), state: vote.status })),
          texts.states,
        )
      : html`<span class="small soft">${firstCheck(firstDueAt, target)}</span>`;
  const last = recent.findLast((one) => one !== null) ?? null;
  const words = texts.overview;
  const bar = past === null ? nothing : stateBar(past.days, daysInWords(past));
  return html`<tr data-part="t-${name}" data-order="${place}" data-round="${rounds}"><th scope="row"><div class="who"><a href="${targetHref(name)}" class="state ${status}" title="${name}">${cutInMiddle(name)}</a><span class="vh"> ${texts.states[status]}</span>${warnings(target)} <span class="host" title="${host}">${cutInMiddle(host)}</span></div></th><td>${seen}</td><td class="wide">${bar}</td><td class="num">${percent(past?.uptime ?? null)}${past === null || past.knownMs === null ? nothing : html` <span class="small soft">${texts.overview.knownFor(roundedDuration(past.knownMs))}</span>`}</td><td class="wide"><span class="latency">${sparkline(recent, words.lately)}<span>${last === null ? '' : formatSeconds(last)}</span></span></td>${withBudgets ? html`<td class="num wide">${percent(past?.budgetLeft ?? null)}</td>` : nothing}</tr>`;
}

/** When a target that was never checked will be: the time of its first check, or what it waits for. */
export function firstCheck(dueAt: number | null, { check }: Pick<LiveTarget, 'check'>): Markup {
  const words = texts.overview;
  if (!probedTypeNames.includes(check)) return html`${words.firstPing}`;
  return dueAt === null ? html`${words.neverDue}` : html`${words.firstCheck} ${shortMoment(dueAt)}`;
}

// What is wrong besides being down.
const warnings = ({ incidents }: LiveTarget): Markup[] =>
  incidents.flatMap(({ wording: { word } }) =>
    shapeOf(word) === 'warning' ? [html` <span class="state warning small">${word}</span>`] : [],
  );

/** An uptime with the time that it is about, if that is shorter than one expects: `100 % in 4 min`. */
export const uptimeWords = ({ uptime, knownMs }: Pick<Past, 'uptime' | 'knownMs'>): string =>
  `${percent(uptime)}${knownMs === null ? '' : ` ${texts.overview.knownFor(roundedDuration(knownMs))}`}`;

/** The bar of the days in words. */
export function daysInWords({ days, uptime, knownMs }: Past): string {
  const down = days.filter((one) => one === 'down').length;
  return texts.overview.daysInWords(
    uptime === null ? null : percent(uptime),
    down,
    knownMs === null ? null : roundedDuration(knownMs),
  );
}

/** A share as people write it; three digits, and never rounded up to 100. */
export function percent(share: number | null): string {
  if (share === null) return '–';
  if (share >= 1) return '100 %';
  const text =
    share > 0.99 ? (Math.floor(share * 100_000) / 1_000).toFixed(3) : (Math.floor(share * 10_000) / 100).toFixed(2);
  return `${Number(text)} %`;
}
