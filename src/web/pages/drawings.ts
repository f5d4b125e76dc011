import { html, type Markup, nothing, type StateName } from './markup.ts';

/** The state of a span of time, or null if it was not monitored. */
export type DayState = StateName | 'excluded' | null;

/** States in a row as a bar; neighbours of the same state are one piece. `label` says the same in words. */
export function stateBar(stretches: readonly DayState[], label: string, width = 3): Markup {
  const pieces = new Map<string, string>();
  let from = 0;
  while (from < stretches.length) {
    const kind = stretches[from] ?? 'none';
    let to = from;
    while (to < stretches.length && (stretches[to] ?? 'none') === kind) to += 1;
    // A down or partial day stands out by its height too.
    const [y, h] = kind === 'down' ? [0, 18] : kind === 'partial' ? [3, 15] : kind === 'none' ? [13, 5] : [6, 12];
    pieces.set(kind, `${pieces.get(kind) ?? ''}M${from * width} ${y}h${(to - from) * width}v${h}H${from * width}`);
    from = to;
  }
  return html`<svg class="bar" viewBox="0 0 ${stretches.length * width} 18" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title>${[...pieces].map(([kind, d]) => html`<path class="f-${kind}" d="${d}"/>`)}</svg>`;
}

/** The heights of a line from zero up, downwards in the units of its drawing. */
export function sparkHeights(values: readonly (number | null)[]): readonly (number | null)[] {
  const top = Math.max(...values.filter((value) => value !== null));
  return values.map((value) => (value === null ? null : Math.round(20 - (value / (top || 1)) * 18)));
}

/** The path of a line with these heights. `browser/ticks.ts` writes the same. */
export function sparkPath(heights: readonly (number | null)[]): string {
  let d = '';
  let isOpen = false;
  for (const [index, height] of heights.entries()) {
    if (height !== null) d += `${isOpen ? 'L' : 'M'}${index * 3} ${height}`;
    isOpen = height !== null;
  }
  return d;
}

/** Times as a line from zero up; gaps stay gaps. */
export function sparkline(values: readonly (number | null)[], label: string): Markup {
  if (values.filter((value) => value !== null).length < 2) return nothing;
  const d = sparkPath(sparkHeights(values));
  return html`<svg class="spark" viewBox="0 0 ${Math.max(values.length - 1, 1) * 3} 22" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title><path d="${d}"/></svg>`;
}

/** What each node saw, as small shapes: height and colour tell the state. */
export function votesBar(
  states: readonly { readonly node: string; readonly state: StateName }[],
  words: Readonly<Record<StateName, string>>,
): Markup {
  if (states.length === 0) return nothing;
  const label = states.map(({ node, state }) => `${node} ${words[state]}`).join(', ');
  const pieces = new Map<string, string>();
  for (const [index, { state }] of states.entries()) {
    const x = index * 9;
    const piece = state === 'down' ? `M${x} 1h7l-3.5 8z` : state === 'unknown' ? `M${x} 5h7v2h-7z` : `M${x} 1h7v8h-7z`;
    pieces.set(state, `${pieces.get(state) ?? ''}${piece}`);
  }
  const width = states.length * 9 - 2;
  return html`<svg class="votes" width="${width}" height="10" viewBox="0 0 ${width} 10" role="img" aria-label="${label}"><title>${label}</title>${[...pieces].map(([kind, d]) => html`<path class="f-${kind}" d="${d}"/>`)}</svg>`;
}
