import type { Phase } from '#checks/index.ts';
import { formatSeconds } from '#kernel/units.ts';
import { html, type Markup, nothing } from './markup.ts';
import { texts } from './texts.ts';

type Phases = Readonly<Partial<Record<Phase, number>>>;

const order: readonly Phase[] = ['resolve', 'connect', 'proxy', 'tls', 'login', 'query', 'first_byte', 'transfer'];

const partsOf = (phases: Phases) =>
  order.flatMap((phase) => {
    const seconds = phases[phase];
    return seconds === undefined ? [] : [{ phase, seconds }];
  });

/** The phases of an outcome, one behind the other, on an axis from 0 to `longest` seconds. */
export function waterfall(phases: Phases, longest: number): Markup {
  const parts = partsOf(phases);
  if (parts.length === 0 || longest <= 0) return nothing;
  let at = 0;
  const bars = parts.map(({ phase, seconds }) => {
    const from = (at / longest) * 400;
    at += seconds;
    return html`<rect
      class="phase-${phase}"
      x="${from.toFixed(1)}"
      width="${Math.max((seconds / longest) * 400, 0.6).toFixed(1)}"
      height="8"
    />`;
  });
  const words = parts.map(({ phase, seconds }) => `${texts.phases[phase]} ${formatSeconds(seconds)}`).join(', ');
  return html`<svg class="phases" viewBox="0 0 400 8" preserveAspectRatio="none" role="img" aria-label="${words}">
    <title>${words}</title>
    ${bars}
  </svg>`;
}

/** What the colours of a waterfall mean; nothing if there is none. */
export function waterfallLegend(all: readonly Phases[]): Markup {
  const used = order.filter((phase) => all.some((phases) => phases[phase] !== undefined));
  if (used.length === 0) return nothing;
  return html`<p class="legend wide">
    ${used.map((phase) => html`<span><i class="phase-${phase}"></i>${texts.phases[phase]}</span>`)}
  </p>`;
}

export const lengthOf = (phases: Phases): number => partsOf(phases).reduce((sum, { seconds }) => sum + seconds, 0);
