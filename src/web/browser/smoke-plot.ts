// Smoke as SmokePing draws it: bands of percentiles, darker towards the median, whose colour is the share of failed checks.
import type UPlot from 'uplot';
import { clear, colourOf } from './plot-words.ts';

type BandValues = (number | null)[];

/** The spread of one node, or of all if it names none. Times are seconds. */
export interface PlotBands {
  readonly node: string | null;
  readonly quantiles: readonly number[];
  /** A row for each quantile, the lowest first. */
  readonly times: readonly BandValues[];
  /** The share of the checks of each step that failed. */
  readonly failed: BandValues;
}

interface BandSteps {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly at: readonly number[];
}

/** Up to which share of failed checks each class of colour goes. */
const shares = [0, 0.05, 0.2, 0.5, 1];

/** The class of the colour of a share of failed checks. */
export const lossClass = (failed: number | null): string =>
  `loss-${shares.findIndex((share) => (failed ?? 0) <= share)}`;

/** Where a step begins and ends: at multiples of its length, the first and the last within the span. */
export function stepSpan({ from, to, step }: Omit<BandSteps, 'at'>, index: number): { from: number; to: number } {
  const first = Math.floor(from / step) * step;
  return { from: Math.max(first + index * step, from), to: Math.min(first + (index + 1) * step, to) };
}

/** Paints the bands and the median of each step. */
export function paintBands(self: UPlot, steps: BandSteps, { times, failed, quantiles }: PlotBands): void {
  const { ctx, bbox } = self;
  const soft = colourOf('soft');
  const middle = quantiles.findIndex((one) => one === 0.5);
  const y = (seconds: number) => self.valToPos(seconds, 'y', true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const index of steps.at.keys()) {
    const span = stepSpan(steps, index);
    const left = self.valToPos(span.from, 'x', true);
    const width = Math.max(self.valToPos(span.to, 'x', true) - left, devicePixelRatio);
    for (let band = 0; band + 1 < times.length; band += 1) {
      const [low, high] = [times[band]?.[index] ?? null, times[band + 1]?.[index] ?? null];
      if (low === null || high === null) continue;
      const depth = band < middle ? band + 1 : times.length - 1 - band;
      ctx.fillStyle = clear(soft, 0.1 + 0.11 * depth);
      ctx.fillRect(left, y(high), width, y(low) - y(high));
    }
    const median = times[middle]?.[index] ?? null;
    if (median === null) continue;
    const thick = 2.5 * devicePixelRatio;
    ctx.fillStyle = colourOf(lossClass(failed[index] ?? null));
    ctx.fillRect(left, y(median) - thick / 2, width, thick);
  }
  ctx.restore();
}
