import type { BudgetFigures, HistoryFigures } from '#history/reader.ts';
import { formatSeconds } from '#kernel/units.ts';

/** A share in percent, rounded down: what was not always up never reads 100%. A dash if there is none. */
export function percent(ratio: number | null): string {
  if (ratio === null) return '-';
  const digits = ratio >= 0.99 && ratio < 1 ? 3 : 2;
  const scale = 10 ** digits;
  return `${(Math.floor(ratio * 100 * scale + 1e-9) / scale).toFixed(digits)}%`;
}

/** How many targets are up, as the beginning of a sentence. */
export function formatUpCount(up: number, all: number): string {
  return `${up} of ${all} ${all === 1 ? 'target' : 'targets'} ${up === 1 || all === 1 ? 'is' : 'are'} up`;
}

export function seconds(value: number | undefined): string {
  return value === undefined ? '-' : formatSeconds(value);
}

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A bar for each part by its p95, from nothing to the highest; a dot if nothing was up. */
export function sparkline(parts: readonly Pick<HistoryFigures, 'latency'>[]): string {
  const values = parts.map(({ latency }) => latency?.p95 ?? null);
  const highest = Math.max(...values.map((value) => value ?? 0));
  const barOf = (value: number) => bars[Math.min(7, Math.max(0, Math.ceil((value / highest) * 8) - 1))] ?? '▁';
  return values.map((value) => (value === null ? '·' : barOf(value))).join('');
}

/** Seconds with what they are made of kept exactly, for programs. */
export function jsonOf(figures: HistoryFigures) {
  const { from, to, uptime, time, answers, latency } = figures;
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    uptime,
    seconds:
      time === null ? null : Object.fromEntries(Object.entries(time).map(([key, ms]) => [key, Number(ms) / 1_000])),
    answers,
    latency,
  };
}

/** How an objective stands, for programs; null if there is none. */
export function budgetJsonOf(budget: BudgetFigures | null) {
  if (budget === null) return null;
  const { ratio, overMs, monthIn, uptime, allowedMs, spentMs, left } = budget;
  return {
    ratio,
    over_seconds: overMs / 1_000,
    ...(monthIn === undefined ? {} : { month_in: monthIn }),
    uptime,
    allowed_seconds: allowedMs / 1_000,
    spent_seconds: spentMs / 1_000,
    left,
  };
}

/** A line of CSV: what would be taken for more than one cell is quoted, and what a spreadsheet would compute is not. */
export function csvLine(cells: readonly (string | number | null | undefined)[]): string {
  const cellOf = (cell: string | number | null | undefined) => {
    const text = typeof cell === 'string' && /^[=+\-@]/.test(cell) ? `'${cell}` : String(cell ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${cells.map(cellOf).join(',')}\n`;
}
