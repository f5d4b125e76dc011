// What uPlot draws: a line for each node with its bands, and what happened.
import type UPlot from 'uplot';
import { clear, colourOf, lengthOf, niceTop, tick } from './plot-words.ts';
import { paintBands, type PlotBands } from './smoke-plot.ts';

declare const uPlot: typeof UPlot;

type PlotValues = (number | null)[];

export interface PlotLine {
  readonly name: string;
  /** The class of its colour. */
  readonly colour: string;
  readonly p50: PlotValues;
  readonly p95: PlotValues;
  readonly min: PlotValues;
  /** The shares of the answers that were down, and unknown. */
  readonly failed: PlotValues;
  readonly unknown: PlotValues;
}

export interface PlotEvent {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
  readonly words: string;
}

/** What `/targets/<name>/series` tells. Times are seconds since the epoch. */
export interface PlotSeries {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** The chart in words. */
  readonly label: string;
  readonly at: number[];
  readonly lines: readonly PlotLine[];
  readonly events: readonly PlotEvent[];
  /** If these are given, they are drawn instead of lines. */
  readonly bands: PlotBands | null;
}

/** What the viewer does with the plot. */
export interface PlotEvents {
  onSelect(self: UPlot): void;
  onCursor(self: UPlot): void;
}

const height = 300;
const shades = ['down', 'partial', 'unknown', 'maintenance', 'excluded'];
export const isShade = ({ kind }: PlotEvent): boolean => shades.includes(kind);

export interface Plot {
  readonly self: UPlot;
  /** Other lines or another scale need another plot. */
  readonly key: string;
  show(series: PlotSeries): void;
}

export const keyOf = ({ lines, bands }: PlotSeries, isLog: boolean): string =>
  [isLog, bands !== null, ...lines.map(({ name }) => name)].join('\n');

export function createPlot(series: PlotSeries, isLog: boolean, stage: HTMLElement, events: PlotEvents): Plot {
  let shown = series;
  const paintSmoke = (self: UPlot) => {
    if (shown.bands !== null) paintBands(self, shown, shown.bands);
  };
  const paintAll = (one: Painter) => (self: UPlot) => paint(self, shown, one);
  const hooks = {
    drawClear: [paintAll(paintShade)],
    draw: [paintSmoke, paintAll(paintMark)],
    setSelect: [(self: UPlot) => events.onSelect(self)],
    setCursor: [(self: UPlot) => events.onCursor(self)],
  };
  const self = new uPlot({ ...optionsOf(series, isLog, stage.clientWidth), hooks }, dataOf(series), stage);
  return {
    self,
    key: keyOf(series, isLog),
    show(next) {
      shown = next;
      self.batch(() => {
        self.setData(dataOf(next), false);
        self.setScale('x', { min: next.from, max: next.to });
      });
    },
  };
}

export const resize = (self: UPlot, stage: HTMLElement): void => self.setSize({ width: stage.clientWidth, height });

function optionsOf(series: PlotSeries, isLog: boolean, width: number): UPlot.Options {
  const soft = colourOf('soft');
  const grid = { stroke: colourOf('rule'), width: 1 };
  return {
    width,
    height,
    series: [{}, ...(series.bands === null ? linesOf(series) : hiddenLines)],
    bands: series.bands === null ? bandsOf(series) : [],
    legend: { show: false },
    scales: {
      x: { time: true, min: series.from, max: series.to, auto: false },
      y: isLog
        ? { distr: 3, range: (_, least, most) => decades(least ?? null, most ?? null) }
        : { range: (_, __, most) => [0, niceTop(most ?? 0)] },
    },
    axes: [
      {
        stroke: soft,
        grid,
        ticks: grid,
        space: 84,
        values: (_, at, __, ___, step) => at.map((one, index) => tick(one, at[index - 1], step)),
      },
      {
        stroke: soft,
        grid,
        ticks: grid,
        size: 78,
        // If nothing was measured there is no scale.
        values: ({ data }, at) =>
          at.map((one) => (!hasTimes(data) || !isLabelled(one, isLog) ? '' : one === 0 ? '0' : lengthOf(one))),
      },
    ],
    cursor: { drag: { x: true, y: false, setScale: false }, y: false },
  };
}

// Whole decades, so that the grid begins and ends with a label.
function decades(least: number | null, most: number | null): [number, number] {
  if (least === null || most === null || least <= 0) return [0.001, 1];
  const low = 10 ** Math.floor(Math.log10(least));
  return [low, Math.max(10 ** Math.ceil(Math.log10(most)), low * 10)];
}

// On a log scale only 1, 2 and 5 of each decade have room for a label.
function isLabelled(value: number | null, isLog: boolean): boolean {
  if (value === null) return false;
  if (!isLog || value <= 0) return true;
  const digit = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
  return digit === 1 || digit === 2 || digit === 5;
}

// Three rows of data for each node: p95, the median, the least.
function linesOf({ lines }: PlotSeries): UPlot.Series[] {
  return lines.flatMap(({ name, colour }): UPlot.Series[] => {
    const stroke = colourOf(colour);
    const edge = { width: 0, stroke, points: { show: false } };
    return [edge, { label: name, stroke, width: 1.6, points: { size: 4, show: true, filter: onlySeries } }, edge];
  });
}

// Bands are painted beside the series, which only set the scale.
const hiddenLines: UPlot.Series[] = [0, 1].map(() => ({ width: 0, points: { show: false } }));

function bandsOf({ lines }: PlotSeries): UPlot.Band[] {
  const faint = 1 / Math.sqrt(Math.max(1, lines.length));
  return lines.flatMap((line, index): UPlot.Band[] => {
    const first = index * 3 + 1;
    const colour = colourOf(line.colour);
    return [
      { series: [first, first + 1], fill: clear(colour, 0.3 * faint) },
      { series: [first + 1, first + 2], fill: clear(colour, 0.14 * faint) },
    ];
  });
}

interface Painter {
  (self: UPlot, event: PlotEvent, left: number, right: number): void;
}

function paint(self: UPlot, { events }: PlotSeries, one: Painter): void {
  const { left, top, width, height: high } = self.bbox;
  self.ctx.save();
  self.ctx.beginPath();
  self.ctx.rect(left, top, width, high);
  self.ctx.clip();
  for (const event of events)
    one(self, event, self.valToPos(event.from, 'x', true), self.valToPos(event.to, 'x', true));
  self.ctx.restore();
}

const paintShade: Painter = ({ ctx, bbox: { top, height: high } }, event, left, right) => {
  if (!isShade(event)) return;
  // So narrow a shade is not seen if it is as faint as others.
  ctx.fillStyle = clear(colourOf(event.kind), right - left < 6 * devicePixelRatio ? 0.5 : 0.14);
  ctx.fillRect(left, top, Math.max(right - left, 2 * devicePixelRatio), high);
};

const colours: Readonly<Record<string, string>> = { incident: 'down', warning: 'partial', late: 'maintenance' };

const paintMark: Painter = ({ ctx, bbox: { top, height: high } }, event, left) => {
  if (isShade(event)) return;
  const { kind } = event;
  const unit = devicePixelRatio;
  ctx.fillStyle = ctx.strokeStyle = colourOf(colours[kind] ?? 'soft');
  ctx.lineWidth = unit;
  ctx.setLineDash([2 * unit, 3 * unit]);
  ctx.beginPath();
  ctx.moveTo(left, top);
  ctx.lineTo(left, top + high);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  if (kind === 'incident' || kind === 'warning') {
    ctx.moveTo(left, top + 9 * unit);
    ctx.lineTo(left - 5 * unit, top);
    ctx.lineTo(left + 5 * unit, top);
  } else if (kind === 'late') ctx.arc(left, top + 4 * unit, 3 * unit, 0, 7);
  else ctx.rect(left - 3 * unit, top + unit, 6 * unit, 6 * unit);
  ctx.fill();
};

function dataOf({ at, lines, bands }: PlotSeries): UPlot.AlignedData {
  if (bands !== null) return [at, bands.times.at(-1) ?? [], bands.times[0] ?? []];
  return [at, ...lines.flatMap(({ p95, p50, min }) => [p95, p50, min])];
}

const hasTimes = ([, ...rows]: UPlot.AlignedData): boolean =>
  rows.some((row) => row.some((value) => typeof value === 'number'));

// A point that has no neighbours would not be seen.
function onlySeries(self: UPlot, row: number): number[] {
  const values = self.data[row] ?? [];
  const isThere = (at: number) => typeof values[at] === 'number';
  return [...values.keys()].filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1));
}
