// What uPlot draws: a line for each node with its bands, and what happened.
import type UPlot from 'uplot';
import { clear, colourOf, lengthOf, momentOf, niceTop, tick } from './plot-words.ts';

declare const uPlot: typeof UPlot;

type PlotValues = (number | null)[];

interface PlotLine {
  readonly name: string;
  readonly p50: PlotValues;
  readonly p95: PlotValues;
  readonly min: PlotValues;
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
}

/** What the viewer does with the plot. */
export interface PlotEvents {
  onSelect(self: UPlot): void;
  onCursor(self: UPlot): void;
}

const height = 300;
const shades = ['down', 'partial', 'unknown', 'maintenance'];
export const isShade = ({ kind }: PlotEvent): boolean => shades.includes(kind);

export interface Plot {
  readonly self: UPlot;
  /** Names of the lines: other lines need another plot. */
  readonly names: string;
  show(series: PlotSeries): void;
}

export const namesOf = ({ lines }: PlotSeries): string => lines.map(({ name }) => name).join('\n');

export function createPlot(series: PlotSeries, stage: HTMLElement, events: PlotEvents): Plot {
  let shown = series;
  const paintAll = (one: Painter) => (self: UPlot) => paint(self, shown, one);
  const hooks = {
    drawClear: [paintAll(paintShade)],
    draw: [paintAll(paintMark)],
    setSelect: [(self: UPlot) => events.onSelect(self)],
    setCursor: [(self: UPlot) => events.onCursor(self)],
    setSeries: [toggle],
  };
  const self = new uPlot({ ...optionsOf(series, stage.clientWidth), hooks }, dataOf(series), stage);
  return {
    self,
    names: namesOf(series),
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

function optionsOf(series: PlotSeries, width: number): UPlot.Options {
  const soft = colourOf('soft');
  const grid = { stroke: colourOf('rule'), width: 1 };
  return {
    width,
    height,
    series: [{ label: 'time', value: (_, at) => (at === null ? '–' : momentOf(at)) }, ...linesOf(series)],
    bands: bandsOf(series),
    scales: {
      x: { time: true, min: series.from, max: series.to, auto: false },
      y: { range: (_, __, most) => [0, niceTop(most ?? 0)] },
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
        values: ({ data }, at) => at.map((one) => (!hasTimes(data) ? '' : one === 0 ? '0' : lengthOf(one))),
      },
    ],
    cursor: { drag: { x: true, y: false, setScale: false }, y: false },
  };
}

// Three rows of data for each node: p95, the median, the least.
function linesOf({ lines }: PlotSeries): UPlot.Series[] {
  return lines.flatMap(({ name }, index): UPlot.Series[] => {
    const stroke = colourOf(`line-${index % 6}`);
    const edge = { class: 'edge', width: 0, stroke, points: { show: false } };
    return [
      { ...edge, label: `${name} p95` },
      {
        label: name,
        stroke,
        width: 1.6,
        points: { size: 4, show: true, filter: onlySeries },
        value: (self, _, row, at) => wordsOf(self, row, at),
      },
      { ...edge, label: `${name} min` },
    ];
  });
}

function bandsOf({ lines }: PlotSeries): UPlot.Band[] {
  const faint = 1 / Math.sqrt(Math.max(1, lines.length));
  return lines.flatMap((_, index): UPlot.Band[] => {
    const first = index * 3 + 1;
    const colour = colourOf(`line-${index % 6}`);
    return [
      { series: [first, first + 1], fill: clear(colour, 0.3 * faint) },
      { series: [first + 1, first + 2], fill: clear(colour, 0.14 * faint) },
    ];
  });
}

function wordsOf({ data }: UPlot, row: number, at: number | null): string {
  if (at === null) return '–';
  const [most, middle] = [data[row - 1]?.[at], data[row]?.[at]];
  return typeof middle === 'number' ? `${lengthOf(middle)}, p95 ${lengthOf(most ?? middle)}` : '–';
}

// A node is one line with its bands.
function toggle(self: UPlot, index: number | null, { show }: UPlot.Series): void {
  if (index === null || index % 3 !== 2 || show === undefined) return;
  for (const other of [index - 1, index + 1]) if (self.series[other]?.show !== show) self.setSeries(other, { show });
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

function dataOf({ at, lines }: PlotSeries): UPlot.AlignedData {
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
