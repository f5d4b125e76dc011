import type { VisitorLanguage, TextKey } from '#languages/language.ts';
import { dayMs, describeDuration } from '#kernel/units.ts';
import type { DayState } from './drawings.ts';
import { html, type Markup, nothing } from './markup.ts';
import { daysInWords } from './overview.ts';
import type { Past } from './past.ts';
import { texts as words } from './texts.ts';
import { roughDuration } from './visitor.ts';

const minuteMs = 60_000;
// In units of the drawing: a day with its gap, its bar, the whole height, and the height of an ordinary day.
const [step, wide, high, usual] = [10, 7, 34, 24];

/** Days as bars with gaps: taller if the target was down, the darker the longer; hatched if unknown; a line if not watched. */
export function dayBars(past: Past, now: number, href: string | null, texts = expertTexts): Markup {
  const { days, downMs } = past;
  const pieces = new Map<string, string>();
  const known = new Map<string, number>();
  const dayTexts = days.map((one, index) => {
    const kind = kindOf(one, downMs[index] ?? 0);
    pieces.set(kind, `${pieces.get(kind) ?? ''}${shapeOf(one, index * step)}`);
    const text = one === 'down' ? texts.down(downMs[index] ?? 0) : texts.states(one);
    if (!known.has(text)) known.set(text, known.size);
    return known.get(text) ?? 0;
  });
  const first = new Date((Math.floor(now / dayMs) - days.length + 1) * dayMs).toISOString().slice(0, 10);
  const label = `${texts.summary(past)} ${texts.hint}`;
  return html`<div class="days" tabindex="0" role="img" aria-label="${label}" data-from="${first}" data-days="${JSON.stringify(dayTexts)}" data-words="${JSON.stringify([...known.keys()])}"${href === null ? nothing : html` data-href="${href}"`}><svg viewBox="0 0 ${days.length * step - step + wide} ${high}" preserveAspectRatio="none" aria-hidden="true">${[...pieces].map(([kind, d]) => html`<path class="${kind}" d="${d}"/>`)}</svg></div>`;
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

/** What the bars say. */
interface DayTexts {
  readonly hint: string;
  summary(past: Past): string;
  down(ms: number): string;
  states(one: Exclude<DayState, 'down'>): string;
}

const expertTexts: DayTexts = {
  hint: words.days.hint,
  summary: (past) => `${daysInWords(past)}.`,
  down: (ms) => words.days.down(describeDuration(ms)),
  states: (one) => words.days.states[one ?? 'none'],
};

const dayKeys = {
  up: 'dayUp',
  partial: 'dayPartial',
  unknown: 'dayUnknown',
  maintenance: 'dayMaintenance',
  excluded: 'dayExcluded',
  waiting: 'stateWaiting',
  warning: 'dayUp',
  none: 'dayNone',
} as const satisfies Readonly<Record<Exclude<DayState, 'down' | null> | 'none', TextKey>>;

/** The same in a visitor's language. */
export function dayTextsIn(language: VisitorLanguage): DayTexts {
  return {
    hint: language.say('dayHint'),
    summary({ days, uptime, knownMs }) {
      if (uptime === null) return language.say('daysUnknown');
      const values = { share: language.percent(uptime), count: days.filter((one) => one === 'down').length };
      if (knownMs === null) return language.say('days', values);
      return language.say('daysKnown', { ...values, duration: roughDuration(language, knownMs) });
    },
    down: (ms) => language.say('dayDown', { duration: language.duration(ms) }),
    states: (one) => language.say(dayKeys[one ?? 'none']),
  };
}
