// Below the chart: its nodes with what each saw at the same times, and the switches of the chart.
import type { ChartMode } from './chart-address.ts';
import type { PlotLine, PlotSeries } from './plot.ts';
import { lossClass, stepSpan } from './smoke-plot.ts';
import type { PlotView } from './view.ts';

/** The words that the server gives the chart. */
export interface PlotWords {
  readonly hint: string;
  readonly only: string;
  readonly all: string;
  readonly log: string;
  readonly smoke: string;
  readonly votes: string;
  readonly bands: string;
  readonly shares: readonly string[];
  readonly failed: string;
  readonly median: string;
  readonly steps: string;
}

export interface Legend {
  readonly element: HTMLElement;
  show(series: PlotSeries, mode: ChartMode): void;
  /** Another span is shown in the same width. */
  align(view: PlotView, area: { readonly left: number; readonly width: number }): void;
}

const high = 10;

export function createLegend(words: PlotWords, go: (changes: Readonly<Record<string, string | null>>) => void): Legend {
  const nodes = elementOf('ul', 'plain strips');
  const note = elementOf('p', 'legend');
  const log = buttonOf(words.log, () => go({ scale: log.ariaPressed === 'true' ? null : 'log' }));
  const smoke = buttonOf(words.smoke, () => go({ view: smoke.ariaPressed === 'true' ? null : 'smoke' }));
  const switches = elementOf('div', 'row acts', [log, smoke]);
  const element = elementOf('div', 'below', [nodes, switches, note]);
  let known = '';
  let from = 0;

  function rowOf({ name, colour }: PlotLine): HTMLElement {
    const mark = elementOf('i', colour);
    const button = buttonOf(name, () => go({ node: button.ariaPressed === 'true' ? null : name }));
    button.prepend(mark);
    button.className = 'node';
    button.title = `${words.only} ${name}`;
    const strip = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    strip.setAttribute('preserveAspectRatio', 'none');
    strip.setAttribute('role', 'img');
    return elementOf('li', '', [button, strip]);
  }

  return {
    element,
    show(series, { node, isLog, isSmoke }) {
      const names = series.lines.map(({ name }) => name).join('\n');
      if (names !== known) nodes.replaceChildren(...series.lines.map(rowOf));
      known = names;
      from = series.from;
      for (const [index, line] of series.lines.entries()) drawStrip(nodes.children[index], series, line, node, words);
      log.ariaPressed = String(isLog);
      smoke.ariaPressed = String(isSmoke);
      note.replaceChildren(...(isSmoke ? lossWords(words) : [elementOf('span', '', [words.votes])]));
    },
    align(view, { left, width }) {
      element.style.setProperty('--left', `${left}px`);
      element.style.setProperty('--width', `${width}px`);
      for (const strip of nodes.querySelectorAll('svg'))
        strip.setAttribute('viewBox', `${view.from - from} 0 ${Math.max(view.to - view.from, 1)} ${high}`);
    },
  };
}

function lossWords({ bands, shares }: PlotWords): HTMLElement[] {
  const limits = [0, 0.05, 0.2, 0.5, 1];
  const items = shares.map((word, index) =>
    elementOf('span', '', [elementOf('i', lossClass(limits[index] ?? 1)), word]),
  );
  return [elementOf('span', '', [bands]), ...items];
}

function drawStrip(
  row: Element | undefined,
  series: PlotSeries,
  { name, failed, unknown }: PlotLine,
  chosen: string | null,
  words: PlotWords,
): void {
  const [button, strip] = [row?.querySelector('button'), row?.querySelector('svg')];
  if (button === undefined || button === null || strip === undefined || strip === null) return;
  button.ariaPressed = String(chosen === name);
  row?.classList.toggle('aside', chosen !== null && chosen !== name);
  const paths = { up: '', down: '', unknown: '' };
  for (const index of series.at.keys()) {
    const share = failed[index] ?? null;
    const lost = unknown[index] ?? null;
    if (share === null && lost === null) continue;
    const span = stepSpan(series, index);
    const [x, width] = [(span.from - series.from).toFixed(1), (span.to - span.from).toFixed(1)];
    if (share === null) paths.unknown += `M${x} 4h${width}v2h-${width}z`;
    else {
      // Few failures are seen too.
      const red = share === 0 ? 0 : Math.max(share * high, 4);
      if (red < high) paths.up += `M${x} ${red.toFixed(1)}h${width}V${high}h-${width}z`;
      if (red > 0) paths.down += `M${x} 0h${width}v${red.toFixed(1)}h-${width}z`;
    }
  }
  const all = failed.filter((one) => one !== null);
  const bad = all.filter((one) => one > 0).length;
  const label = words.steps.replace('{failed}', String(bad)).replace('{all}', String(all.length));
  strip.setAttribute('aria-label', `${name}: ${label}`);
  strip.replaceChildren(
    ...Object.entries(paths).map(([kind, d]) => {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      path.setAttribute('class', `f-${kind}`);
      path.setAttribute('d', d);
      return path;
    }),
  );
}

function buttonOf(text: string, press: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.ariaPressed = 'false';
  button.append(text);
  button.addEventListener('click', press);
  return button;
}

function elementOf(kind: string, name: string, children: readonly (Node | string)[] = []): HTMLElement {
  const element = document.createElement(kind);
  if (name !== '') element.className = name;
  element.append(...children);
  return element;
}
