import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#kernel/clock.ts';
import { protection } from './app.ts';

/** A named event with what it tells, as it goes to every viewer. */
export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface StreamOptions {
  readonly clock: Clock;
  /** Counts what can be told; a viewer that comes back names the last it has heard of. */
  readonly version: () => number;
  /** What there is to tell that is newer than this version. Made once for all viewers. */
  readonly since: (version: number) => readonly StreamEvent[];
  /** Calls back at every change. Asked for while somebody looks, and no longer. */
  readonly onChange: (listener: () => void) => Disposable;
}

/** One stream of events to any number of viewers. */
export interface Stream extends Disposable {
  open(request: FastifyRequest, reply: FastifyReply): void;
  readonly viewers: number;
}

// Changes of a second go out together. A connection is ended before the server cuts it; browsers come back by themselves.
const togetherMs = 1_000;
const beatMs = 15_000;
const lifeMs = 50_000;
const mostUnread = 1_000_000;

export function createStream({ clock, version, since, onChange }: StreamOptions): Stream {
  const viewers = new Set<FastifyReply['raw']>();
  let watching: Disposable | null = null;
  let flushing: Disposable | null = null;
  let sent = 0;

  function write(text: string): void {
    for (const viewer of viewers) {
      // Somebody who reads more slowly than we tell gets everything anew when he comes back.
      if (viewer.writableLength > mostUnread) viewer.destroy();
      else viewer.write(text);
    }
  }

  function flush(): void {
    flushing = null;
    const until = version();
    const text = textOf(since(sent), until);
    sent = until;
    if (text !== '') write(text);
  }

  function leave(viewer: FastifyReply['raw']): void {
    if (!viewers.delete(viewer) || viewers.size > 0) return;
    watching?.[Symbol.dispose]();
    flushing?.[Symbol.dispose]();
    watching = flushing = null;
  }

  return {
    get viewers() {
      return viewers.size;
    },
    open(request, reply) {
      const { raw } = reply;
      reply.hijack();
      raw.writeHead(200, {
        ...protection,
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      });
      const known = Number(request.headers['last-event-id'] ?? Number.NaN);
      if (viewers.size === 0) {
        sent = version();
        watching = onChange(() => (flushing ??= clock.after(togetherMs, flush)));
      }
      raw.write(
        `retry: 2000\n\n${Number.isFinite(known) && known < sent ? textOf(since(known), sent) : `id: ${sent}\ndata:\n\n`}`,
      );
      viewers.add(raw);
      let beat = clock.after(beatMs, function again() {
        raw.write(':\n\n');
        beat = clock.after(beatMs, again);
      });
      const end = clock.after(lifeMs, () => raw.end());
      raw.once('close', () => {
        beat[Symbol.dispose]();
        end[Symbol.dispose]();
        leave(raw);
      });
    },
    [Symbol.dispose]() {
      for (const viewer of viewers) viewer.end();
    },
  };
}

const textOf = (events: readonly StreamEvent[], id: number): string =>
  events.map(({ event, data }) => `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join('');
