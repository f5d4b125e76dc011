import { formatSeconds } from '#kernel/units.ts';
import type { Outcome } from '../outcome.ts';
import { endLine, hopLabel, measuredLines } from '../path/lines.ts';
import type { Detail, HopFigures } from './detail.ts';

const columns = ['last', 'mean', 'best', 'worst', 'deviation', 'jitter'] as const;
const width = 10;

/** A table with a line for each hop, as mtr(8) prints them, and what else was found. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { path, figures } = detail;
  const labels = path.hops.map(hopLabel);
  const longest = Math.max(3, ...labels.map(({ length }) => length));
  const limited = figures.filter(({ limits_answers }) => limits_answers).map(({ hop }) => hop);
  return [
    ...(figures.length === 0 ? [] : [headOf(longest)]),
    ...figures.map((hop, index) => lineOf(hop, (labels[index] ?? '').padEnd(longest))),
    ...endLine(path),
    ...(limited.length === 0
      ? []
      : [`${limited.length === 1 ? 'hop' : 'hops'} ${limited.join(', ')}: limited answers, no loss`]),
    ...measuredLines(path),
  ];
}

function headOf(longest: number): string {
  const heads = ['loss', 'sent', ...columns].map((name) => name.padStart(width));
  return `    ${'hop'.padEnd(longest)}${heads.join('')}`;
}

function lineOf(figures: HopFigures, label: string): string {
  const loss = `${Number((figures.loss * 100).toFixed(1))}%`;
  const times = columns.map((name) => {
    const seconds = figures[name];
    return seconds === null ? '' : formatSeconds(seconds);
  });
  const cells = [loss, String(figures.sent), ...times].map((text) => text.padStart(width));
  return `${String(figures.hop).padStart(2)}  ${label}${cells.join('')}`.trimEnd();
}
