import { checkOf, shownNode } from '#checks/index.ts';
import type { MeasuredPast, MeasuredStep, MeasuredSeries } from '#history/measurements.ts';
import type { TimeSpan } from '#history/span.ts';
import { dayMs } from '#kernel/units.ts';
import type { LiveTarget } from '../state/board.ts';
import { foreign, html, type Markup, moment, nothing } from './markup.ts';
import { texts } from './texts.ts';

const mostRows = 100;
const [wide, high] = [300, 22];

/** The part of a span whose values are shown. */
export function measuredSpan({ from, to }: TimeSpan): TimeSpan {
  return { from: Math.max(from, to - 30 * dayMs), to };
}

/** Whether checks of a target measure values under names of their own. */
export const isMeasured = ({ check }: Pick<LiveTarget, 'check'>): boolean => checkOf(check).values !== null;

/** The values of each label at each node in a span, with their course; nothing without any. */
export function measuredValues(past: MeasuredPast | null, span: TimeSpan): Markup {
  if (past === null || past.series.length === 0) return nothing;
  const words = texts.target.measured;
  const rows = past.series.slice(0, mostRows).map((one) => rowOf(one, span));
  const left = past.series.length - rows.length;
  return html`<h2>${words.title}</h2><div class="scroll" tabindex="0" role="region" aria-label="${words.title}" data-part="measured"><table class="cards"><thead><tr><th scope="col">${words.label}</th><th scope="col">${words.node}</th><th scope="col" class="num">${words.last}</th><th scope="col" class="num">min</th><th scope="col" class="num">${words.mean}</th><th scope="col" class="num">max</th><th scope="col">${words.limits}</th><th scope="col">${words.course}</th></tr></thead><tbody>${rows}</tbody></table></div><p class="small soft">${words.caption}</p>${left > 0 ? html`<p class="small soft">${words.more(left)}</p>` : nothing}${past.omitted > 0 ? html`<p class="small soft">${words.omitted(past.omitted)}</p>` : nothing}`;
}

function rowOf({ label, node, unit, warning, critical, points }: MeasuredSeries, span: TimeSpan): Markup {
  const words = texts.target.measured;
  const last = points.at(-1);
  if (last === undefined) return nothing;
  const least = Math.min(...points.map(({ min }) => min));
  const most = Math.max(...points.map(({ max }) => max));
  const mean = points.reduce((sum, point) => sum + point.mean, 0) / points.length;
  const cell = (title: string, value: number) =>
    html`<td class="num" data-label="${title}">${figure(value)}${unit}</td>`;
  const limits = [warning === null ? [] : words.warning(warning), critical === null ? [] : words.critical(critical)];
  const name = words.courseOf({ label, least: `${figure(least)}${unit}`, most: `${figure(most)}${unit}` });
  return html`<tr><th scope="row">${foreign(label)}</th><td data-label="${words.node}">${shownNode(node)}</td><td class="num" data-label="${words.last}">${figure(last.mean)}${unit} <span class="small soft">${moment(last.at)}</span></td>${cell('min', least)}${cell(words.mean, mean)}${cell('max', most)}<td>${foreign(limits.flat().join(', '))}</td><td>${courseLine(points, span, { least, most, name })}</td></tr>`;
}

// Six digits are more than people read.
const figure = (value: number): string => String(Number(value.toPrecision(6)));

interface CourseScale {
  readonly least: number;
  readonly most: number;
  readonly name: string;
}

/** The means over a span; the line ends where steps are missing. Zero is on the scale, so that small changes look small. */
function courseLine(
  points: readonly MeasuredStep[],
  { from, to }: TimeSpan,
  { least, most, name }: CourseScale,
): Markup {
  const [low, top] = [Math.min(0, least), Math.max(0, most)];
  const x = (at: number) => Math.round(((Math.max(at, from) - from) / Math.max(to - from, 1)) * wide);
  const y = (value: number) => Math.round(high - 2 - ((value - low) / (top - low || 1)) * (high - 4));
  // No more points than the drawing has room for.
  const drawn = [...Map.groupBy(points, ({ at }) => x(at))].map(([across, all]) => {
    return { across, mean: all.reduce((sum, one) => sum + one.mean, 0) / all.length };
  });
  const gaps = drawn.map(({ across }, index) => across - (drawn[index - 1]?.across ?? across));
  const usual = gaps.slice(1).toSorted((a, b) => a - b)[Math.floor((gaps.length - 1) / 2)] ?? 0;
  const d = drawn
    .map(
      ({ across, mean }, index) => `${index === 0 || (gaps[index] ?? 0) > 3 * usual ? 'M' : 'L'}${across} ${y(mean)}`,
    )
    .join('');
  return html`<svg class="spark" viewBox="0 0 ${wide} ${high}" preserveAspectRatio="none" role="img" aria-label="${name}"><title>${name}</title><path d="${d}${drawn.length === 1 ? 'h1' : ''}"/></svg>`;
}
