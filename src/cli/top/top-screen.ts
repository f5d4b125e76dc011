import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import { formatUpCount } from '../shared/figures.ts';
import type { StateColor } from '../shared/paint.ts';
import { alignRows } from '../shared/table.ts';

/** A target as the daemon sees it at this moment. */
export const TopState = z.object({
  target: z.string(),
  check: z.string(),
  host: z.string(),
  status: z.enum(['up', 'partial', 'down', 'unknown', 'maintenance']),
  since: z.string().nullable(),
  seconds: z.number().nullable(),
  up: z.number(),
  nodes: z.number(),
  cause: z.string().nullable(),
});
export type TopState = z.output<typeof TopState>;

const sorts = ['state', 'name', 'since', 'time'] as const;
const filters = ['all', 'not up', 'down'] as const;

/** What is shown, and how. */
export interface TopView {
  readonly sort: (typeof sorts)[number];
  readonly filter: (typeof filters)[number];
  /** A part of the name or the host. */
  readonly text: string;
  /** Whether keys are letters of that text. */
  readonly isTyping: boolean;
  /** The first row that is shown. */
  readonly top: number;
}

export const firstView: TopView = { sort: 'state', filter: 'all', text: '', isTyping: false, top: 0 };

/** The view after a key, or null if it ends. `page` is how many rows are seen at once. */
export function viewAfter(view: TopView, key: string, page: number): TopView | null {
  if (key === '\u{3}') return null;
  if (view.isTyping) return typed(view, key);
  const move = moves.get(key);
  if (move !== undefined) return { ...view, top: Math.max(0, view.top + move(page)) };
  switch (key) {
    case 'q':
    case '\u{4}':
      return null;
    case 's':
      return { ...view, sort: nextOf(sorts, view.sort), top: 0 };
    case 'f':
      return { ...view, filter: nextOf(filters, view.filter), top: 0 };
    case '/':
      return { ...view, isTyping: true, text: '', top: 0 };
    case 'g':
      return { ...view, top: 0 };
    default:
      return view;
  }
}

const moves = new Map<string, (page: number) => number>([
  ['j', () => 1],
  ['\u{1b}[B', () => 1],
  ['k', () => -1],
  ['\u{1b}[A', () => -1],
  [' ', (page) => page],
  ['\u{1b}[6~', (page) => page],
  ['\u{1b}[5~', (page) => -page],
]);

function typed(view: TopView, key: string): TopView {
  if (key === '\r' || key === '\n') return { ...view, isTyping: false };
  if (key === '\u{1b}') return { ...view, isTyping: false, text: '' };
  if (key === '\u{7f}' || key === '\b') return { ...view, text: view.text.slice(0, -1) };
  return /^[\x20-\x7e]+$/.test(key) ? { ...view, text: view.text + key, top: 0 } : view;
}

function nextOf<One>(all: readonly [One, ...One[]], one: One): One {
  return all[(all.indexOf(one) + 1) % all.length] ?? all[0];
}

export interface ScreenInput {
  readonly states: readonly TopState[];
  readonly view: TopView;
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
  /** Why what is shown may be old, or null. */
  readonly trouble: string | null;
}

const headLines = 3;
const footLines = 1;

/** How many targets are seen at once. */
export const pageOf = (rows: number) => Math.max(1, rows - headLines - footLines);

/** The lines of the screen: as many as it has at the most, none longer than it is wide. */
export function screenOf(
  { states, view, columns, rows, now, trouble }: ScreenInput,
  paint: StateColor,
): readonly string[] {
  const chosen = sorted(states.filter(filterOf(view)), view.sort);
  const page = pageOf(rows);
  const top = Math.min(view.top, Math.max(0, chosen.length - page));
  const shown = chosen.slice(top, top + page);
  const table = alignRows([headings, ...shown.map((one) => cellsOf(one, now))]);
  const [head = '', ...lines] = table;
  const where = chosen.length > page ? `  ${top + 1}-${top + shown.length} of ${chosen.length}` : '';
  return [
    cut(trouble ?? sentenceOf(states), columns),
    '',
    cut(head, columns),
    ...lines.map((line, index) => painted(cut(line, columns), shown[index]?.status ?? 'up', paint)),
    cut(`${footOf(view)}${where}`, columns),
  ];
}

/** The same for those who look once. */
export function tableOf(states: readonly TopState[], now: number, paint: StateColor): readonly string[] {
  const chosen = sorted(states, 'state');
  const [head = '', ...lines] = alignRows([headings, ...chosen.map((one) => cellsOf(one, now))]);
  return [
    sentenceOf(states),
    '',
    head,
    ...lines.map((line, index) => painted(line, chosen[index]?.status ?? 'up', paint)),
  ];
}

const headings = ['target', 'state', 'for', 'took', 'nodes', 'what'];

function cellsOf({ target, check, host, status, since, seconds, up, nodes, cause }: TopState, now: number) {
  return [
    target,
    status,
    since === null ? '-' : describeDuration(Math.max(0, now - Date.parse(since))),
    seconds === null ? '-' : formatSeconds(seconds),
    `${up}/${nodes}`,
    singleLine(status === 'up' || cause === null ? `${check} ${host}` : cause, 200),
  ];
}

// The word of the state only, in the line that was cut already.
const painted = (line: string, status: string, paint: StateColor) =>
  line.replace(new RegExp(`(?<= {2})${status}(?= |$)`), (word) => paint(status, word));

function sentenceOf(states: readonly TopState[]): string {
  const up = states.filter(({ status }) => status === 'up').length;
  const others = (['down', 'partial', 'unknown', 'maintenance'] as const).flatMap((status) => {
    const count = states.filter((one) => one.status === status).length;
    return count === 0 ? [] : [`${count} ${status === 'maintenance' ? 'in maintenance' : status}`];
  });
  return [formatUpCount(up, states.length), ...others].join(', ');
}

function footOf({ sort, filter, text, isTyping }: TopView): string {
  if (isTyping) return `/${text}_   Enter: keep  Esc: all`;
  const search = text === '' ? '' : ` "${text}"`;
  return `q quit  s sort: ${sort}  f show: ${filter}  / search${search}`;
}

const badness: Readonly<Record<TopState['status'], number>> = {
  down: 0,
  partial: 1,
  unknown: 2,
  maintenance: 3,
  up: 4,
};

function sorted(states: readonly TopState[], by: TopView['sort']): readonly TopState[] {
  const names = (one: TopState, other: TopState) => (one.target < other.target ? -1 : 1);
  switch (by) {
    case 'state':
      return states.toSorted((one, other) => badness[one.status] - badness[other.status] || names(one, other));
    case 'name':
      return states.toSorted(names);
    case 'since':
      return states.toSorted((one, other) => (other.since ?? '').localeCompare(one.since ?? '') || names(one, other));
    case 'time':
      return states.toSorted((one, other) => (other.seconds ?? -1) - (one.seconds ?? -1) || names(one, other));
  }
}

function filterOf({ filter, text }: TopView): (state: TopState) => boolean {
  const part = text.toLowerCase();
  return ({ target, host, status }) => {
    if (filter === 'down' && status !== 'down') return false;
    if (filter === 'not up' && status === 'up') return false;
    return part === '' || target.includes(part) || host.toLowerCase().includes(part);
  };
}

function cut(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(columns - 1, 0))}…`;
}
