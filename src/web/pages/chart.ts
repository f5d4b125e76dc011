import type { ChangeKind } from '#history/changes.ts';
import { dayMs, formatSeconds } from '#kernel/units.ts';
import { foreign, html, type Markup, moment, nothing } from './markup.ts';
import { texts } from './texts.ts';

/** Figures of a step; null if there is nothing to go by. */
export interface ChartPoint {
  readonly at: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly min: number | null;
  /** The share of the answers with a verdict that were down, and of all answers that were unknown; null if there were none. */
  readonly failed: number | null;
  readonly unknown: number | null;
}

/** The spread of a step: the times at `bandQuantiles`, null if none was measured, and the share of the answers with a verdict that were down. */
export interface BandPoint {
  readonly times: readonly number[] | null;
  readonly failed: number | null;
}

/** The spread of one node, or of all of them together if it names none. */
export interface PercentileBands {
  readonly node: string | null;
  readonly points: readonly BandPoint[];
}

/** Ten bands lie between them; the median is in the middle. */
export const bandQuantiles: readonly number[] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

export interface ChartLine {
  readonly name: string;
  readonly points: readonly ChartPoint[];
}

export interface ChartEvent {
  readonly from: number;
  readonly to: number;
  /** How the target was for a while, or what happened at a moment. */
  readonly kind:
    | 'down'
    | 'maintenance'
    | 'excluded'
    | 'unknown'
    | 'partial'
    | 'incident'
    | 'warning'
    | 'late'
    | ChangeKind;
  readonly words: string;
  readonly href?: string;
}

export interface ChartValue {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly lines: readonly ChartLine[];
  readonly events: readonly ChartEvent[];
  /** Whether there were more events than these. */
  readonly hasMoreEvents: boolean;
  readonly bands: PercentileBands | null;
}

const [width, height, left, bottom] = [960, 260, 58, 24];

/** Latency over time: a line for the median of each node, a band to its 95th percentile, what happened behind it. From zero up. */
export function latencyChart(
  { from, to, lines: every, events }: Pick<ChartValue, 'from' | 'to' | 'lines' | 'events'>,
  node: string | null = null,
): Markup {
  const coloured = every.map((line, index) => ({ ...line, colour: `line-${index % 6}` }));
  const lines = coloured.some(({ name }) => name === node) ? coloured.filter(({ name }) => name === node) : coloured;
  const all = lines.flatMap(({ points }) => points.map(({ p95 }) => p95 ?? 0));
  const top = niceTop(Math.max(0, ...all));
  const isEmpty = top === 0;
  if (isEmpty && !events.some(isShade)) return html`<p class="soft">${texts.target.noLatency}</p>`;
  const x = (at: number) => left + ((at - from) / Math.max(1, to - from)) * (width - left - 8);
  const heightOf = (share: number) => 8 + (1 - share) * (height - bottom - 8);
  const y = (seconds: number) => heightOf(seconds / top);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      html`<path class="grid" d="M${left} ${heightOf(share).toFixed(1)}H${width - 8}"/>${isEmpty ? nothing : html`<text x="${left - 8}" y="${(heightOf(share) + 4).toFixed(1)}" text-anchor="end">${share === 0 ? '0' : formatSeconds(top * share)}</text>`}`,
  );
  const shades = events.map((event) => {
    // An incident may have begun before the span.
    if (!isShade(event)) return event.from < from ? nothing : markOf(event, x(event.from));
    const [a, b] = [x(Math.max(event.from, from)), x(Math.min(event.to, to))];
    return html`<rect class="shade f-${event.kind}${b - a < thin ? ' thin' : ''}" x="${a.toFixed(1)}" y="8" width="${Math.max(b - a, 2).toFixed(1)}" height="${height - bottom - 8}"><title>${event.words}</title></rect>`;
  });
  const drawn = lines.map(({ name, points, colour }) => {
    const runs = unbroken(points);
    const band = runs.map(
      (run) =>
        `M${run.map(({ at, p95 }) => `${x(at).toFixed(1)} ${y(p95).toFixed(1)}`).join('L')}L${run
          .toReversed()
          .map(({ at, p50 }) => `${x(at).toFixed(1)} ${y(p50).toFixed(1)}`)
          .join('L')}Z`,
    );
    const line = runs.map(
      (run) =>
        `M${run.map(({ at, p50 }) => `${x(at).toFixed(1)} ${y(p50).toFixed(1)}`).join('L')}${run.length === 1 ? 'h1.5' : ''}`,
    );
    return html`<g class="${colour}"><title>${name}</title><path class="band" d="${band.join('')}"/><path class="line" d="${line.join('')}"/></g>`;
  });
  const ticks = [0, 1, 2, 3, 4].map((step) => from + ((to - from) * step) / 4);
  const times = ticks.map(
    (at, index) =>
      html`<text x="${x(at).toFixed(1)}" y="${height - 6}" text-anchor="${index === 0 ? 'start' : index === 4 ? 'end' : 'middle'}">${shortTime(at, to - from)}</text>`,
  );
  return html`<figure class="chart"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${texts.target.latencyLabel(lines.map(({ name }) => name))}">${shades}${grid}${times}${drawn}</svg>
<p class="legend">${isEmpty ? html`<span>${texts.target.noLatency}</span>` : lines.map(({ name, colour }) => html`<span><i class="${colour}"></i>${name}</span>`)}<span>${texts.target.bandWords}</span></p></figure>`;
}

// So narrow a shade is not seen if it is as faint as others.
const thin = 6;

const isShade = ({ kind }: ChartEvent): boolean =>
  kind === 'down' || kind === 'partial' || kind === 'unknown' || kind === 'maintenance' || kind === 'excluded';

const colours: Readonly<Partial<Record<ChartEvent['kind'], string>>> = {
  incident: 'down',
  warning: 'partial',
  late: 'maintenance',
};

function markOf({ kind, words }: ChartEvent, x: number): Markup {
  const isIncident = kind === 'incident' || kind === 'warning';
  const shape = isIncident ? `M${(x - 5).toFixed(1)} 8h10l-5 9z` : `M${(x - 3).toFixed(1)} 9h6v6h-6z`;
  const colour = colours[kind] ?? 'mark';
  return html`<g><title>${words}</title><path class="mark-line" d="M${x.toFixed(1)} 8V${height - bottom}"/><path class="f-${colour}" d="${shape}"/></g>`;
}

/** What happened in the span, in words: the newest first. */
export function eventList({ events, hasMoreEvents }: Pick<ChartValue, 'events' | 'hasMoreEvents'>): Markup {
  const marks = events.filter((event) => !isShade(event)).toSorted((a, b) => b.from - a.from);
  if (marks.length === 0) return html`<p class="small soft">${texts.target.noEvents}</p>`;
  const items = marks.map(
    ({ from, kind, words, href }) =>
      html`<li>${moment(from)} <span class="event e-${kind}">${href === undefined ? foreign(words) : html`<a href="${href}">${foreign(words)}</a>`}</span></li>`,
  );
  return html`<details><summary>${texts.target.events(marks.length, hasMoreEvents)}</summary><ol class="times small">${items}</ol></details>`;
}

type MeasuredPoint = ChartPoint & { readonly p50: number; readonly p95: number };

// If nothing is known there is a gap.
function unbroken(points: readonly ChartPoint[]): readonly MeasuredPoint[][] {
  const runs: MeasuredPoint[][] = [];
  let run: MeasuredPoint[] = [];
  for (const point of points) {
    if (point.p50 !== null && point.p95 !== null) run.push({ ...point, p50: point.p50, p95: point.p95 });
    else if (run.length > 0) {
      runs.push(run);
      run = [];
    }
  }
  return run.length > 0 ? [...runs, run] : runs;
}

function niceTop(highest: number): number {
  if (highest <= 0) return 0;
  const unit = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 4, 5, 10].map((step) => step * unit).find((one) => one >= highest) ?? highest;
}

function shortTime(at: number, spanMs: number): string {
  const iso = new Date(at).toISOString();
  return spanMs > 2 * dayMs ? iso.slice(5, 10) : `${iso.slice(11, 16)} UTC`;
}
