import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#kernel/clock.ts';
import { errorBody } from '#protocol/errors.ts';
import { protection } from './app.ts';
import { takesGzip } from './compression.ts';
import { encodePiece, gzipEncoder, plainEncoder, type StreamEncoder, type StreamPiece } from './stream-encoding.ts';

/** A named event with its data, as it goes to every viewer. */
export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface StreamOptions {
  readonly clock: Clock;
  /** Counts changes; a viewer that reconnects names the last version it got. */
  readonly version: () => number;
  /**
   * The events of a view that are newer than this version. `missing`: for a viewer that comes; `next`: for all that have seen everything
   * up to that version, made once for all viewers of a view.
   */
  readonly since: (version: number, view: string, kind: 'missing' | 'next') => readonly StreamEvent[];
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

interface Viewer {
  readonly raw: FastifyReply['raw'];
  readonly view: string;
  readonly encoder: StreamEncoder;
}

// Changes of a second go out together. A connection is ended before the server cuts it; browsers reconnect by themselves.
const togetherMs = 1_000;
const usualBeatMs = 5_000;
const lifeMs = 50_000;
const mostUnread = 1_000_000;
// Ten thousand viewers do not keep others waiting.
const writesAtOnce = 250;

export function createStream(options: StreamOptions): Stream {
  const { clock, version, since, onChange, beatMs = usualBeatMs, mostViewers = Number.POSITIVE_INFINITY } = options;
  const viewers = new Set<Viewer>();
  // Another number after a restart or a reload: then a page may lack more than the events tell.
  const start = version();
  let watching: Disposable | null = null;
  let flushing: Disposable | null = null;
  let beating: Disposable | null = null;
  let sent = start;
  const send = createSender(({ raw, encoder }: Viewer, piece: StreamPiece) => {
    // A viewer that reads more slowly than we write gets everything anew when it reconnects.
    if (raw.writableLength > mostUnread) raw.destroy();
    else if (!raw.writableEnded && !raw.destroyed) raw.write(encoder.next(piece));
  });

  const beat = () => `event: beat\nid: ${sent}\ndata: ${JSON.stringify({ every_seconds: beatMs / 1_000, start })}\n\n`;

  function flush(): void {
    flushing = null;
    const events = new Map(
      [...new Set([...viewers].map(({ view }) => view))].map((view) => [view, since(sent, view, 'next')] as const),
    );
    sent = version();
    for (const [view, all] of events) {
      if (all.length === 0) continue;
      send(
        [...viewers].filter((viewer) => viewer.view === view),
        encodePiece(textOf(all, sent)),
      );
    }
  }

  function beatAll(): void {
    send([...viewers], encodePiece(beat()));
    beating = clock.after(beatMs, beatAll);
  }

  function begin(): void {
    sent = version();
    watching = onChange(() => (flushing ??= clock.after(togetherMs, flush)));
    beating = clock.after(beatMs, beatAll);
  }

  function leave(viewer: Viewer): void {
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
      const isPacked = takesGzip(request.headers['accept-encoding']);
      const viewer: Viewer = { raw, view, encoder: isPacked ? gzipEncoder() : plainEncoder };
      reply.hijack();
      raw.writeHead(200, {
        ...protection,
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
        vary: 'accept-encoding',
        ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
      });
      const known = lastHeard(request);
      const missed = known === null ? [] : since(known, view, 'missing');
      if (viewers.size === 0) begin();
      const first = encodePiece(`retry: 1000\n\n${textOf(missed, sent)}${beat()}`);
      raw.write(Buffer.concat([viewer.encoder.head, viewer.encoder.next(first)]));
      viewers.add(viewer);
      const life = clock.after(lifeMs, () => end(viewer));
      raw.once('close', () => {
        life[Symbol.dispose]();
        leave(viewer);
      });
    },
    [Symbol.dispose]() {
      for (const viewer of viewers) end(viewer);
    },
  };
}

function end({ raw, encoder }: Viewer): void {
  if (!raw.writableEnded) raw.end(encoder.end());
}

/** Gives pieces to many, one piece after the other, some at a time. */
function createSender<One>(write: (one: One, piece: StreamPiece) => void) {
  const waiting: { readonly to: readonly One[]; readonly piece: StreamPiece; at: number }[] = [];
  let isScheduled = false;

  function work(): void {
    isScheduled = false;
    let left = writesAtOnce;
    for (let job = waiting[0]; job !== undefined && left > 0; job = waiting[0]) {
      for (const one of job.to.slice(job.at, job.at + left)) write(one, job.piece);
      const end = Math.min(job.to.length, job.at + left);
      left -= end - job.at;
      job.at = end;
      if (end === job.to.length) waiting.shift();
    }
    if (waiting.length === 0) return;
    isScheduled = true;
    setImmediate(work);
  }

  return (to: readonly One[], piece: StreamPiece): void => {
    waiting.push({ to, piece, at: 0 });
    if (!isScheduled) work();
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
