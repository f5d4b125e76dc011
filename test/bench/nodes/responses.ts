import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../tools/table.ts';

/** How long a hub takes to answer meanwhile, in milliseconds. */
export interface ResponseTimes extends Disposable {
  /** The 99th percentile of `/healthz`, and the longest of `/metrics` and of the first page; NaN for none. */
  figures(): { readonly health: number; readonly metrics: number; readonly page: number };
}

const healthEveryMs = 250;
// As often as Prometheus scrapes, at the most, and a person looks.
const rareEveryMs = 5_000;
const longestMs = 60_000;

export function watchResponses(url: string): ResponseTimes {
  const times = { health: [] as number[], metrics: [] as number[], page: [] as number[] };
  const over = new AbortController();
  // What is still awaited in the end has taken so long at least.
  const awaited = new Map<readonly number[], number>();

  async function ask(path: string, all: number[], everyMs: number): Promise<void> {
    while (!over.signal.aborted) {
      const begun = performance.now();
      awaited.set(all, begun);
      const isAnswered = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(longestMs) })
        .then(async (response) => response.arrayBuffer())
        .then(
          () => true,
          () => false,
        );
      awaited.delete(all);
      if (!over.signal.aborted) all.push(isAnswered ? performance.now() - begun : longestMs);
      await pause(Math.max(0, everyMs - (performance.now() - begun)));
    }
  }

  void ask('/healthz', times.health, healthEveryMs);
  void ask('/metrics', times.metrics, rareEveryMs);
  void ask('/', times.page, rareEveryMs);
  const sorted = (all: readonly number[]) => {
    const begun = awaited.get(all);
    return [...all, ...(begun === undefined ? [] : [performance.now() - begun])].toSorted((a, b) => a - b);
  };
  return {
    figures: () => ({
      health: percentile(sorted(times.health), 0.99),
      metrics: sorted(times.metrics).at(-1) ?? Number.NaN,
      page: sorted(times.page).at(-1) ?? Number.NaN,
    }),
    [Symbol.dispose]() {
      over.abort();
    },
  };
}
