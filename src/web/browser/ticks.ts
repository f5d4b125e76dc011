import { elementOf, keep } from './parts.ts';

// Rows of the overview that had one more round and are otherwise as they were.

/** As the server writes it: see `RowTick` in web/live/row-changes.ts. */
export type Tick = readonly [name: string, round: number, point: number | string | null, text: string, isLonger?: 1];

/** Adds a round to its row; false if the row is not that of the round before. */
export function applyTick([name, round, point, text, isLonger]: Tick): boolean {
  const row = elementOf(`t-${name}`);
  const known = Number(row?.getAttribute('data-round') ?? Number.POSITIVE_INFINITY);
  // The row came with it, or is not on this page.
  if (row === null || round <= known) return true;
  const line = row.querySelector('.spark');
  const path = line?.querySelector('path') ?? null;
  const time = row.querySelector('.latency > span');
  if (line === null || path === null || time === null || round !== known + 1) return false;
  const drawn = path.getAttribute('d') ?? '';
  const count = Number(line.getAttribute('viewBox')?.split(' ')[2] ?? 0) / 3 + 1;
  if (isLonger === 1) line.setAttribute('viewBox', `0 0 ${count * 3} 22`);
  path.setAttribute('d', typeof point === 'string' ? point : extended(drawn, count, isLonger === 1, point));
  time.textContent = text;
  row.setAttribute('data-round', String(round));
  keep(`t-${name}`, row);
  return true;
}

function extended(drawn: string, count: number, isLonger: boolean, point: number | null): string {
  const heights: (number | null)[] = Array.from({ length: count }, () => null);
  for (const [, x, y] of drawn.matchAll(/[ML](\d+) (\d+)/g)) heights[Number(x) / 3] = Number(y);
  if (!isLonger) heights.shift();
  return pathOf([...heights, point]);
}

function pathOf(heights: readonly (number | null)[]): string {
  let path = '';
  let isOpen = false;
  for (const [index, height] of heights.entries()) {
    if (height !== null) path += `${isOpen ? 'L' : 'M'}${index * 3} ${height}`;
    isOpen = height !== null;
  }
  return path;
}
