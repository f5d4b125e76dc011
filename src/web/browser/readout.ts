// The line below the chart: the values at the cursor, and what happened there.
import type { PlotSeries } from './plot.ts';
import { lengthOf, momentOf } from './plot-words.ts';
import type { PlotWords } from './legend.ts';

const mostNodes = 8;

/** What the chart shows at a step, in words. */
export function wordsAt({ at, lines, bands }: PlotSeries, index: number, words: PlotWords): string {
  const when = at[index];
  if (when === undefined) return '';
  if (bands === null) {
    const values = lines.slice(0, mostNodes).flatMap(({ name, p50, p95 }) => {
      const [middle, most] = [p50[index] ?? null, p95[index] ?? null];
      return middle === null ? [] : [`${name} ${lengthOf(middle)}, p95 ${lengthOf(most ?? middle)}`];
    });
    return [momentOf(when), ...values].join(' · ');
  }
  const timeAt = (quantile: number) =>
    bands.times[bands.quantiles.findIndex((one) => one === quantile)]?.[index] ?? null;
  const [low, middle, top] = [timeAt(0.05), timeAt(0.5), timeAt(0.95)];
  const times =
    low === null || middle === null || top === null
      ? []
      : [`${words.median} ${lengthOf(middle)}, p5 ${lengthOf(low)}, p95 ${lengthOf(top)}`];
  const failed = bands.failed[index] ?? null;
  const loss = failed === null ? [] : [`${Number((failed * 100).toPrecision(3))} % ${words.failed}`];
  return [momentOf(when), bands.node ?? words.all, ...times, ...loss].join(' · ');
}
