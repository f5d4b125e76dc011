import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#kernel/clock.ts';
import { errorBody } from '#protocol/errors.ts';
import { protection } from './app.ts';

/** A named event with its data, as it goes to every viewer. */
export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface StreamOptions {
  readonly clock: Clock;
  /** Counts changes; a viewer that reconnects names the last version it got. */
  readonly version: () => number;
  /** The events of a view that are newer than this version. Made once for all its viewers. */
  readonly since: (version: number, view: string) => readonly StreamEvent[];
  /** Calls back at every change. Subscribed while there are viewers, and no longer. */
  readonly onChange: (listener: () => void) => Disposable;
  /** How often a viewer hears that the program is alive, in milliseconds. Default: 5 s. */
  readonly beatMs?: number;
  /** The most viewers at a time; others are refused with 503. Default: no limit. */
  readonly mostViewers?: number;
}

/** One stream of events to any number of viewers. */
export interface Stream extends Disposable {
  /** `view` is what this viewer shows, such as the filter of its page. */
  open(request: FastifyRequest, reply: FastifyReply, view?: string): void;
  readonly version: number;
  readonly viewers: number;
}

// Changes of a second go out together. A connection is ended before the server cuts it; browsers reconnect by themselves.
const togetherMs = 1_000;
const usualBeatMs = 5_000;
const lifeMs = 50_000;
const mostUnread = 1_000_000;

export function createStream(options: StreamOptions): Stream {
  const { clock, version, since, onChange, beatMs = usualBeatMs, mostViewers = Number.POSITIVE_INFINITY } = options;
  const viewers = new Map<FastifyReply['raw'], string>();
  // Another number after a restart or a reload: then a page may lack more than the events tell.
  const start = version();
  let watching: Disposable | null = null;
  let flushing: Disposable | null = null;
  let beating: Disposable | null = null;
  let sent = start;

  const beat = () => `event: beat\nid: ${sent}\ndata: ${JSON.stringify({ every_seconds: beatMs / 1_000, start })}\n\n`;

  function write(viewer: FastifyReply['raw'], text: string): void {
    // A viewer that reads more slowly than we write gets everything anew when it reconnects.
    if (viewer.writableLength > mostUnread) viewer.destroy();
    else if (text !== '') viewer.write(text);
  }

  function flush(): void {
    flushing = null;
    const events = new Map([...new Set(viewers.values())].map((view) => [view, since(sent, view)] as const));
    sent = version();
    const texts = new Map([...events].map(([view, all]) => [view, textOf(all, sent)] as const));
    for (const [viewer, view] of viewers) write(viewer, texts.get(view) ?? '');
  }

  function beatAll(): void {
    for (const viewer of viewers.keys()) write(viewer, beat());
    beating = clock.after(beatMs, beatAll);
  }

  function begin(): void {
    sent = version();
    watching = onChange(() => (flushing ??= clock.after(togetherMs, flush)));
    beating = clock.after(beatMs, beatAll);
  }

  function leave(viewer: FastifyReply['raw']): void {
    if (!viewers.delete(viewer) || viewers.size > 0) return;
    for (const one of [watching, flushing, beating]) one?.[Symbol.dispose]();
    watching = flushing = beating = null;
  }

  return {
    get viewers() {
      return viewers.size;
    },
    get version() {
      return version();
    },
    open(request, reply, view = '') {
      if (viewers.size >= mostViewers) {
        void reply.code(503).header('retry-after', '10').send(errorBody('unavailable', 'too many viewers'));
        return;
      }
      const { raw } = reply;
      reply.hijack();
      raw.writeHead(200, {
        ...protection,
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      });
      const known = lastHeard(request);
      const missed = known === null ? [] : since(known, view);
      if (viewers.size === 0) begin();
      raw.write(`retry: 1000\n\n${textOf(missed, sent)}${beat()}`);
      viewers.set(raw, view);
      const end = clock.after(lifeMs, () => raw.end());
      raw.once('close', () => {
        end[Symbol.dispose]();
        leave(raw);
      });
    },
    [Symbol.dispose]() {
      for (const viewer of viewers.keys()) viewer.end();
    },
  };
}

// Scripts can set no header when they open a stream: they name it in the address.
function lastHeard({ headers, query }: FastifyRequest): number | null {
  const asked = typeof query === 'object' && query !== null && 'since' in query ? query.since : undefined;
  const known = headers['last-event-id'] ?? asked;
  return typeof known === 'string' && /^\d{1,16}$/.test(known) ? Number(known) : null;
}

const textOf = (events: readonly StreamEvent[], id: number): string =>
  events.map(({ event, data }) => `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join('');
