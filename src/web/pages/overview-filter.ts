import { z } from 'zod';
import type { LiveTarget } from '../state/board.ts';
import type { Past } from './past.ts';
import { stateOf, type ShownState } from '../state/shown.ts';

/** Which targets the overview shows, and how. */
export interface OverviewFilter {
  readonly state: string;
  readonly label: string;
  readonly text: string;
  readonly group: string;
  readonly view: string;
  readonly sort: OverviewSort;
  /** Whether a long list shows all rows, or those that it begins with. */
  readonly rows: '' | 'all';
}

/** By what rows are sorted: by state and then name, the lowest uptime first, or the slowest first. */
export type OverviewSort = '' | 'name' | 'uptime' | 'latency';

const Text = z.string().max(200).catch('');
const Query = z.object({
  state: Text,
  label: Text,
  q: Text,
  group: Text,
  view: Text,
  sort: z.enum(['', 'name', 'uptime', 'latency']).catch(''),
  rows: z.enum(['', 'all']).catch(''),
});

/** The filter in the query of an address. */
export function filterOf(query: unknown): OverviewFilter {
  const { q, ...rest } = Query.parse(query);
  return { ...rest, text: q };
}

/** A filter as the query of an address; the same for filters that are alike. */
export function queryOf({ text, ...rest }: OverviewFilter): string {
  const given = Object.entries({ ...rest, q: text }).filter(([, value]) => value !== '');
  return new URLSearchParams(given).toString();
}

/** The same for the events of a page, which are about all rows. */
export const viewOf = (filter: OverviewFilter): string => queryOf({ ...filter, rows: '' });

// A row is some twenty elements: a page begins with fewer than 3,000, and does not leave a few out.
const rowsAtFirst = 100;
const fewMore = 20;

/** The rows that a list of these targets has; the browser fetches the others when they are looked for. */
export function firstRows(shown: readonly LiveTarget[], { rows, view }: OverviewFilter): readonly LiveTarget[] {
  return rows === 'all' || view === 'wall' || shown.length <= rowsAtFirst + fewMore
    ? shown
    : shown.slice(0, rowsAtFirst);
}

/** Those of which the list shows how they were: its rows, and all that are sorted by that; tiles do not. */
export function withPast(shown: readonly LiveTarget[], filter: OverviewFilter): readonly LiveTarget[] {
  if (filter.view === 'wall') return [];
  return filter.sort === 'uptime' ? shown : firstRows(shown, filter);
}

/** The order of the states: those that need attention first. */
export const order: readonly ShownState[] = ['down', 'partial', 'unknown', 'maintenance', 'waiting', 'up'];

/** Rows and tiles stand in the order of these texts, by UTF-16 code units: by state, then by name. */
export const orderOf = (target: Pick<LiveTarget, 'status' | 'firstDueAt' | 'name'>): string =>
  `${order.indexOf(stateOf(target))}${target.name}`;

/** As `orderOf`, by what a filter sorts: what is not known comes last, equals by name. */
export function sortKeyOf(target: LiveTarget, past: Pick<Past, 'uptime'> | null, sort: OverviewSort): string {
  const { name } = target;
  if (sort === '') return orderOf(target);
  if (sort === 'name') return name;
  const uptime = past?.uptime ?? null;
  if (sort === 'uptime') return `${uptime === null ? unsorted : digits(uptime * 1e9)} ${name}`;
  const seconds = target.recent.findLast((one) => one !== null) ?? null;
  return `${seconds === null ? unsorted : digits(largest - seconds * 1e6)} ${name}`;
}

const largest = 1e12;
const unsorted = '~';
const digits = (value: number) => String(Math.round(Math.max(0, value))).padStart(13, '0');

/** By what the rows of a page are sorted: tiles have no figures, so a wall stands in its own order. */
export const sortOf = ({ view, sort }: OverviewFilter): OverviewSort => (view === 'wall' ? '' : sort);

/** The targets that a filter shows, in their order. */
export function filtered(
  targets: readonly LiveTarget[],
  filter: OverviewFilter,
  pastOf: (target: LiveTarget) => Pick<Past, 'uptime'> | null,
): readonly LiveTarget[] {
  const { state: wanted, label, text } = filter;
  const sort = sortOf(filter);
  const [key = '', value = ''] = label.split(':');
  const word = text.toLowerCase();
  return targets
    .filter(
      (target) =>
        (wanted === '' || stateOf(target) === wanted) &&
        (label === '' || target.labels[key] === value) &&
        (word === '' || `${target.name} ${target.host}`.toLowerCase().includes(word)),
    )
    .map((target) => ({ target, at: sortKeyOf(target, sort === 'uptime' ? pastOf(target) : null, sort) }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ target }) => target);
}

/** The name of the group that a target stands in; empty without groups, and for targets without the label. */
export const groupOf = ({ labels }: Pick<LiveTarget, 'labels'>, { group, view }: OverviewFilter): string =>
  group === '' || view === 'wall' ? '' : (labels[group] ?? '');
