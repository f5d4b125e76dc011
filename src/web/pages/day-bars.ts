import { dayMs, describeDuration } from '#kernel/units.ts';
import type { DayState } from './drawings.ts';
import { html, type Markup, nothing } from './markup.ts';
import { daysInWords } from './overview.ts';
import type { Past } from './past.ts';
import { texts } from './texts.ts';

const minuteMs = 60_000;
// In units of the drawing: a day with its gap, its bar, the whole height, and the height of an ordinary day.
const [step, wide, high, usual] = [10, 7, 34, 24];

/** Days as bars with gaps: taller if the target was down, the darker the longer; hatched if unknown; a line if not watched. */
export function dayBars(past: Past, now: number, href: string | null): Markup {
  const { days, downMs } = past;
  const pieces = new Map<string, string>();
  const words = new Map<string, number>();
  const dayTexts = days.map((one, index) => {
    const kind = kindOf(one, downMs[index] ?? 0);
    pieces.set(kind, `${pieces.get(kind) ?? ''}${shapeOf(one, index * step)}`);
    const text = wordsOf(one, downMs[index] ?? 0);
    if (!words.has(text)) words.set(text, words.size);
    return words.get(text) ?? 0;
  });
  const first = new Date((Math.floor(now / dayMs) - days.length + 1) * dayMs).toISOString().slice(0, 10);
  const label = `${daysInWords(past)}. ${texts.days.hint}`;
  return html`<div class="days" tabindex="0" role="img" aria-label="${label}" data-from="${first}" data-days="${JSON.stringify(dayTexts)}" data-words="${JSON.stringify([...words.keys()])}"${href === null ? nothing : html` data-href="${href}"`}><svg viewBox="0 0 ${days.length * step - step + wide} ${high}" preserveAspectRatio="none" aria-hidden="true">${[...pieces].map(([kind, d]) => html`<path class="${kind}" d="${d}"/>`)}</svg></div>`;
}

function kindOf(one: DayState, downMs: number): string {
  if (one === 'unknown') return 'hatch';
  if (one !== 'down') return `f-${one ?? 'none'}`;
  return `f-down ${downMs < 5 * minuteMs ? 'briefly' : downMs < 60 * minuteMs ? 'awhile' : 'long'}`;
}

function shapeOf(one: DayState, x: number): string {
  if (one === null) return `M${x} ${high - 2}h${wide}v2H${x}`;
  if (one !== 'unknown') {
    const tall = one === 'down' ? high : one === 'partial' ? high - 5 : usual;
    return `M${x} ${high - tall}h${wide}v${tall}H${x}`;
  }
  return [0, 1, 2].map((line) => `M${x} ${high - line * 8}l${wide}-${wide}`).join('');
}

function wordsOf(one: DayState, downMs: number): string {
  const words = texts.days;
  return one === 'down' ? words.down(describeDuration(downMs)) : words.states[one ?? 'none'];
}
