import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs, hourMs } from '#kernel/units.ts';
import { figuresOf, partsRead, type FiguresSource } from './figures.ts';
import type { FiguresSeries, SeriesQuery } from './reader.ts';
import type { HistorySource } from './source.ts';
import { partsOf, stepFor } from './span.ts';

const defaultPoints = 300;

/** The figures of targets together, part after part of a span, in steps no finer than what is kept of it. */
export async function readSeries(
  source: HistorySource,
  targets: readonly string[],
  { from, to, node: named, stepMs, points = defaultPoints, quantiles = [], isTimeOnly }: Omit<SeriesQuery, 'of'>,
  now: number,
): Promise<FiguresSeries> {
  const node = named ?? null;
  const { resultsFrom, hoursFrom } = source.kept();
  const leastMs = from < hoursFrom ? dayMs : from < resultsFrom ? hourMs : 0;
  const step = stepMs === undefined ? stepFor({ from, to }, points, leastMs) : Math.max(stepMs, leastMs);
  const parts = partsOf({ from, to }, step);
  const perTarget: (readonly FiguresSource[])[] = [];
  for (const target of targets) {
    perTarget.push(partsRead(source, target, node, parts, now, isTimeOnly));
    await nextTurn();
  }
  const figures = parts.map((part, index) =>
    figuresOf(
      perTarget.flatMap((reads) => reads[index] ?? []),
      part,
      node,
      quantiles,
    ),
  );
  return { from, to, stepMs: step, parts: figures };
}
