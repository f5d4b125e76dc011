import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../tools/table.ts';

/** How long a hub takes to answer meanwhile, in milliseconds. */
export interface ResponseTimes extends Disposable {
  /** Forgets what was answered by now. */
  restart(): void;
  /**
   * The 99th percentile of `/healthz` and of a server that does nothing else, and the longest of `/metrics` and of the first page; NaN
   * for none.
   */
  figures(): { readonly health: number; readonly bare: number; readonly metrics: number; readonly page: number };
}

const healthEveryMs = 100;
// As often as Prometheus scrapes, at the most, and a person looks.
const rareEveryMs = 5_000;
const longestMs = 60_000;

export function watchResponses(url: string, bareUrl: string): ResponseTimes {
  const times = { health: [] as number[], bare: [] as number[], metrics: [] as number[], page: [] as number[] };
  const over = new AbortController();
  const agent = new Agent({ keepAlive: true });
  // What is still awaited in the end has taken so long at least.
  const awaited = new Set<{ readonly all: number[]; readonly begun: number }>();

  async function ask(address: string, all: number[]): Promise<void> {
    const one = { all, begun: performance.now() };
    awaited.add(one);
    const isAnswered = await isRead(address, agent);
    awaited.delete(one);
    if (!over.signal.aborted) all.push(isAnswered ? performance.now() - one.begun : longestMs);
  }

  async function askInTurn(address: string, all: number[]): Promise<void> {
    while (!over.signal.aborted) {
      const begun = performance.now();
      await ask(address, all);
      await pause(Math.max(0, rareEveryMs - (performance.now() - begun)));
    }
  }

  // Whether or not the last one is answered: one long stall is that of all who ask meanwhile.
  const timer = setInterval(() => {
    void ask(`${url}/healthz`, times.health);
    void ask(bareUrl, times.bare);
  }, healthEveryMs);
  void askInTurn(`${url}/metrics`, times.metrics);
  void askInTurn(`${url}/`, times.page);
  const sorted = (all: readonly number[]) => {
    const late = [...awaited].filter((one) => one.all === all).map(({ begun }) => performance.now() - begun);
    return [...all, ...late].toSorted((a, b) => a - b);
  };
  return {
    restart() {
      for (const all of Object.values(times)) all.length = 0;
    },
    figures: () => ({
      health: percentile(sorted(times.health), 0.99),
      bare: percentile(sorted(times.bare), 0.99),
      metrics: sorted(times.metrics).at(-1) ?? Number.NaN,
      page: sorted(times.page).at(-1) ?? Number.NaN,
    }),
    [Symbol.dispose]() {
      clearInterval(timer);
      over.abort();
      agent.destroy();
    },
  };
}

// As Prometheus does, but nothing is unpacked: 50 MB of metrics would hold up what measures the other answers.
async function isRead(address: string, agent: Agent): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const headers = { 'accept-encoding': 'gzip' };
  const request = get(address, { agent, headers, signal: AbortSignal.timeout(longestMs) }, (response) => {
    response.on('end', () => resolve(response.statusCode === 200)).on('error', () => resolve(false));
    response.resume();
  });
  // A connection that rested may be closed by the other side as it is used again: then any client asks once more.
  request.on('error', (error: NodeJS.ErrnoException) => {
    const wasClosed = request.reusedSocket && error.code === 'ECONNRESET';
    resolve(wasClosed ? isRead(address, agent) : false);
  });
  return promise;
}
