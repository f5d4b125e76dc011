import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Prometheus, and people: some have pages open, others load them. */
export interface Visitors extends AsyncDisposable {
  readonly streams: number;
  readonly made: {
    readonly pages: number;
    readonly scrapes: number;
    readonly events: number;
    readonly repeated: number;
  };
  /** Ends the visits. What went wrong with the first that failed, in words; null if none did. */
  failure(): Promise<string | null>;
}

const openPages = 10;
// As many as are open at once: streams, a page and a scrape.
const mostConnections = openPages + 2;
const scrapeEveryMs = 5_000;
const loadEveryMs = 1_000;

export function startVisitors(url: string, target: string): Visitors {
  const stop = new AbortController();
  const { signal } = stop;
  const made = { pages: 0, scrapes: 0, events: 0, repeated: 0 };
  const paths = ['/', `/targets/${target}`, '/incidents', '/nodes', `/targets/${target}?span=30d`];

  async function again(everyMs: number, visit: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      try {
        await visit(turn);
        await pause(everyMs, undefined, { signal });
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async function load(path: string): Promise<void> {
    const answer = await onOpenConnection(async () =>
      fetch(`${url}${path}`, { signal, headers: { accept: 'text/html' } }),
    );
    await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  }

  // The server may close an idle connection while a request is on its way, and so may all that this process has: like a browser, it
  // asks once more for each of them.
  async function onOpenConnection(ask: () => Promise<Response>): Promise<Response> {
    for (let left = mostConnections; ; left -= 1) {
      try {
        return await ask();
      } catch (error) {
        if (signal.aborted || left === 0) throw error;
        made.repeated += 1;
      }
    }
  }

  // A stream is ended by the server from time to time, and opened again as a browser does.
  async function watch(path: string): Promise<void> {
    const answer = await onOpenConnection(async () => fetch(`${url}${path}`, { signal }));
    for await (const chunk of answer.body ?? []) made.events += Buffer.from(chunk).toString().split('\nevent: ').length;
  }

  const visits = [
    again(scrapeEveryMs, async () => {
      await load('/metrics');
      made.scrapes += 1;
    }),
    again(loadEveryMs, async (turn) => {
      await load(paths[turn % paths.length] ?? '/');
      made.pages += 1;
    }),
    ...Array.from({ length: openPages }, (_, index) =>
      again(2_000, async () => watch(index % 2 === 0 ? '/api/v1/events' : '/live/overview')),
    ),
  ];
  const ended = Promise.all(visits);
  ended.catch(() => {});
  return {
    streams: openPages,
    made,
    async failure() {
      stop.abort();
      return ended.then(
        () => null,
        (error: unknown) => inspect(error),
      );
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.allSettled(visits);
    },
  };
}
