import { z } from 'zod';
import type { LiveTarget } from '../state/board.ts';
import { stateOf, type ShownState } from '../state/shown.ts';

/** Which targets the overview shows, and how. */
export interface OverviewFilter {
  readonly state: string;
  readonly label: string;
  readonly text: string;
  readonly group: string;
  readonly view: string;
}

const Text = z.string().max(200).catch('');
const Query = z.object({ state: Text, label: Text, q: Text, group: Text, view: Text });

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

/** The order of the states: those that need attention first. */
export const order: readonly ShownState[] = ['down', 'partial', 'unknown', 'maintenance', 'waiting', 'up'];

/** Rows stand in the order of these texts, by UTF-16 code units: by state, then by name. */
export const orderOf = (target: Pick<LiveTarget, 'status' | 'firstDueAt' | 'name'>): string =>
  `${order.indexOf(stateOf(target))}${target.name}`;

/** The targets that a filter shows, in their order. */
export function filtered(
  targets: readonly LiveTarget[],
  { state: wanted, label, text }: OverviewFilter,
): readonly LiveTarget[] {
  const [key = '', value = ''] = label.split(':');
  const word = text.toLowerCase();
  return targets
    .filter(
      (target) =>
        (wanted === '' || stateOf(target) === wanted) &&
        (label === '' || target.labels[key] === value) &&
        (word === '' || `${target.name} ${target.host}`.toLowerCase().includes(word)),
    )
    .map((target) => ({ target, at: orderOf(target) }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ target }) => target);
}

/** The name of the group that a target stands in; empty without groups, and for targets without the label. */
export const groupOf = ({ labels }: Pick<LiveTarget, 'labels'>, { group, view }: OverviewFilter): string =>
  group === '' || view === 'wall' ? '' : (labels[group] ?? '');
