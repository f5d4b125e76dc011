// The latency chart of a target's page: drawn by uPlot in place of the picture that the server drew, moved by mouse and keys.
import type UPlot from 'uplot';
import { createPlot, isShade, namesOf, type Plot, resize, type PlotSeries } from './plot.ts';
import { possible, shifted, type PlotView, zoomed } from './view.ts';

const place = document.querySelector<HTMLElement>('[data-series]');
if (place !== null) begin(place, place.dataset['series'] ?? '');

function begin(place: HTMLElement, url: string): void {
  const stage = stageOf();
  const line = document.createElement('p');
  line.className = 'small soft readout';
  line.textContent = place.dataset['hint'] ?? '';
  let plot: Plot | null = null;
  let shown: PlotSeries | null = null;
  let view: PlotView = { from: 0, to: 0 };
  let newest = 0;
  let asking = new AbortController();

  async function load(): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const response = await fetch(`${url}${location.search}`, { signal: asking.signal, cache: 'no-cache' });
    if (!response.ok) return;
    const series: PlotSeries = await response.json();
    newest = Math.max(newest, series.to);
    view = shown = series;
    draw(series);
  }

  function draw(series: PlotSeries): void {
    const isKnown = series.events.some(isShade) || series.lines.some(({ p50 }) => p50.some((value) => value !== null));
    place.classList.toggle('drawn', isKnown);
    if (!isKnown) return;
    stage.setAttribute('aria-label', series.label);
    if (!stage.isConnected) place.append(stage, line);
    if (plot?.names === namesOf(series)) {
      plot.show(series);
      return;
    }
    plot?.self.destroy();
    plot = createPlot(series, stage, { onSelect, onCursor });
    plot.self.over.addEventListener('wheel', onWheel, { passive: false });
    plot.self.over.addEventListener('dblclick', () => move(zoomed(view, 2, 0.5)));
  }

  function onSelect(self: UPlot): void {
    const { left, width } = self.select;
    if (width > 5) move({ from: self.posToVal(left, 'x'), to: self.posToVal(left + width, 'x') });
    if (width > 0) self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  function onCursor(self: UPlot): void {
    const { left = -1 } = self.cursor;
    const isNear = ({ from, to }: PlotView) =>
      left >= self.valToPos(from, 'x') - 5 && left <= self.valToPos(to, 'x') + 5;
    const near = left < 0 ? [] : (shown?.events ?? []).filter(isNear);
    line.textContent = near.length === 0 ? (place.dataset['hint'] ?? '') : near.map(({ words }) => words).join(' · ');
  }

  function onWheel(event: WheelEvent): void {
    // A wheel over a chart without focus scrolls the page.
    if (!(event.ctrlKey || event.metaKey || stage.contains(document.activeElement))) return;
    event.preventDefault();
    const share = event.offsetX / Math.max(1, plot?.self.over.clientWidth ?? 1);
    move(zoomed(view, event.deltaY < 0 ? 0.7 : 1 / 0.7, Math.min(Math.max(share, 0), 1)));
  }

  function move(wanted: PlotView): void {
    view = possible(wanted, newest);
    plot?.self.setScale('x', { min: view.from, max: view.to });
    const iso = (at: number) => new Date(Math.round(at) * 1_000).toISOString();
    navigate(`?${new URLSearchParams({ from: iso(view.from), to: iso(view.to) }).toString()}`);
  }

  let pending = 0;
  function navigate(search: string): void {
    history.replaceState(null, '', `${location.pathname}${search}`);
    clearTimeout(pending);
    pending = setTimeout(() => {
      loadQuietly();
      document.dispatchEvent(new CustomEvent('moved'));
    }, 200);
  }

  const loadQuietly = () => void load().catch(ignoreAbsence);
  stage.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') navigate('');
    else if (event.key === '+' || event.key === '=') move(zoomed(view, 0.5, 0.5));
    else if (event.key === '-') move(zoomed(view, 2, 0.5));
    else if (event.key === 'ArrowLeft') move(shifted(view, -0.25));
    else if (event.key === 'ArrowRight') move(shifted(view, 0.25));
    else return;
    event.preventDefault();
  });
  // The page was drawn anew because something happened: what stands at a span that was chosen has no news.
  document.addEventListener('part', (event) => {
    const isChart = event instanceof CustomEvent && event.detail === 'chart';
    if (isChart && !location.search.includes('from=')) loadQuietly();
  });
  new ResizeObserver(() => plot !== null && resize(plot.self, stage)).observe(stage);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    plot?.self.destroy();
    plot = null;
    if (shown !== null) draw(shown);
  });
  loadQuietly();
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
