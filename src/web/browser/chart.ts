// The latency chart of a target's page: drawn by uPlot in place of the picture that the server drew, moved by mouse and keys.
import type UPlot from 'uplot';
import { type ChartAddress, createAddress, modeOf } from './chart-address.ts';
import { createLegend, type PlotWords } from './legend.ts';
import { createPlot, isShade, keyOf, type Plot, type PlotSeries, resize } from './plot.ts';
import { wordsAt } from './readout.ts';
import { possible, shifted, type PlotView, zoomed } from './view.ts';

const place = document.querySelector<HTMLElement>('[data-series]');
if (place !== null) begin(place, place.dataset['series'] ?? '');

function begin(place: HTMLElement, url: string): void {
  const words: PlotWords = JSON.parse(place.dataset['words'] ?? '{}');
  const stage = stageOf();
  const line = readoutOf(words.hint);
  const address = createAddress(loadSoon);
  const legend = createLegend(words, (changes) => address.go(changes));
  let plot: Plot | null = null;
  let known: PlotSeries | null = null;
  let shown: PlotSeries | null = null;
  let view: PlotView = { from: 0, to: 0 };
  let newest = 0;
  let asking = new AbortController();

  async function load(): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const series = await seriesAt(`${url}${location.search}`, asking.signal);
    if (series === null) return;
    newest = Math.max(newest, series.to);
    view = series;
    known = { ...series, lines: series.lines.map((one, index) => ({ ...one, colour: `line-${index % 6}` })) };
    draw(known);
  }

  function draw(all: PlotSeries): void {
    const isKnown = all.events.some(isShade) || all.lines.some(({ p50 }) => p50.some((value) => value !== null));
    place.classList.toggle('drawn', isKnown);
    if (!isKnown) return;
    const mode = modeOf(location.search);
    shown = { ...all, lines: focused(all.lines, mode.node) };
    stage.setAttribute('aria-label', all.label);
    if (!stage.isConnected) place.append(stage, legend.element, line);
    legend.show(all, mode);
    if (plot?.key === keyOf(shown, mode.isLog)) plot.show(shown);
    else {
      plot?.self.destroy();
      plot = createPlot(shown, mode.isLog, stage, { onSelect, onCursor });
      plot.self.over.addEventListener('wheel', onWheel, { passive: false });
      plot.self.over.addEventListener('dblclick', () => move(zoomed(view, 2, 0.5)));
    }
    align();
  }

  function align(): void {
    if (plot === null) return;
    const { left, width } = plot.self.bbox;
    legend.align(view, { left: left / devicePixelRatio, width: width / devicePixelRatio });
  }

  function onSelect(self: UPlot): void {
    const { left, width } = self.select;
    if (width > 5) move({ from: self.posToVal(left, 'x'), to: self.posToVal(left + width, 'x') }, false);
    if (width > 0) self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  function onCursor(self: UPlot): void {
    const { left = -1, idx } = self.cursor;
    const isNear = ({ from, to }: PlotView) =>
      left >= self.valToPos(from, 'x') - 5 && left <= self.valToPos(to, 'x') + 5;
    const near = left < 0 ? [] : (shown?.events ?? []).filter(isNear);
    const values = left < 0 || typeof idx !== 'number' || shown === null ? '' : wordsAt(shown, idx, words);
    const parts = [values, ...near.map((event) => event.words)].filter(Boolean);
    line.textContent = parts.length === 0 ? words.hint : parts.join(' · ');
  }

  function onWheel(event: WheelEvent): void {
    // A wheel over a chart without focus scrolls the page.
    if (!(event.ctrlKey || event.metaKey || stage.contains(document.activeElement))) return;
    event.preventDefault();
    const share = event.offsetX / Math.max(1, plot?.self.over.clientWidth ?? 1);
    move(zoomed(view, event.deltaY < 0 ? 0.7 : 1 / 0.7, Math.min(Math.max(share, 0), 1)));
  }

  function move(wanted: PlotView, isStep = true): void {
    view = possible(wanted, newest);
    plot?.self.setScale('x', { min: view.from, max: view.to });
    align();
    const iso = (at: number) => new Date(Math.round(at) * 1_000).toISOString();
    address.go({ span: null, from: iso(view.from), to: iso(view.to) }, isStep);
  }

  let pending = 0;
  function loadSoon(): void {
    // Its answer would take back every step since it was asked for.
    asking.abort();
    clearTimeout(pending);
    pending = setTimeout(() => {
      loadQuietly();
      document.dispatchEvent(new CustomEvent('moved'));
    }, 200);
  }

  const loadQuietly = () => void load().catch(ignoreAbsence);
  stage.addEventListener('keydown', (event) => {
    const act = keyAct(event.key, { view: () => view, move, go: address.go });
    if (act === null || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
  });
  onNews(loadQuietly);
  new ResizeObserver(() => {
    if (plot !== null) resize(plot.self, stage);
    align();
  }).observe(stage);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    plot?.self.destroy();
    plot = null;
    if (known !== null) draw(known);
  });
  loadQuietly();
}

async function seriesAt(url: string, signal: AbortSignal): Promise<PlotSeries | null> {
  const response = await fetch(url, { signal, cache: 'no-cache' });
  return response.ok ? response.json() : null;
}

// The page was drawn anew because something happened: what stands at a span that was chosen has no news.
function onNews(load: () => void): void {
  document.addEventListener('part', (event) => {
    const isChart = event instanceof CustomEvent && event.detail === 'chart';
    if (isChart && !location.search.includes('from=')) load();
  });
}

interface ChartKeys {
  readonly view: () => PlotView;
  readonly move: (wanted: PlotView) => void;
  readonly go: ChartAddress['go'];
}

function keyAct(key: string, { view, move, go }: ChartKeys): (() => void) | null {
  if (key === 'Escape') return () => go({ span: null, from: null, to: null });
  if (key === '+' || key === '=') return () => move(zoomed(view(), 0.5, 0.5));
  if (key === '-') return () => move(zoomed(view(), 2, 0.5));
  if (key === 'ArrowLeft') return () => move(shifted(view(), -0.25));
  return key === 'ArrowRight' ? () => move(shifted(view(), 0.25)) : null;
}

// A node that is not among them, such as one of an old link, hides none.
function focused<Line extends { readonly name: string }>(lines: readonly Line[], node: string | null): readonly Line[] {
  const chosen = lines.filter(({ name }) => name === node);
  return chosen.length === 0 ? lines : chosen;
}

function readoutOf(hint: string): HTMLElement {
  const line = document.createElement('p');
  line.className = 'small soft readout';
  line.textContent = hint;
  return line;
}

function stageOf(): HTMLElement {
  const stage = document.createElement('div');
  stage.className = 'stage';
  stage.tabIndex = 0;
  stage.setAttribute('role', 'application');
  return stage;
}

// Without an answer the last picture stays; the next event asks again.
function ignoreAbsence(error: unknown): void {
  if (!(error instanceof TypeError) && !(error instanceof DOMException && error.name === 'AbortError')) throw error;
}
