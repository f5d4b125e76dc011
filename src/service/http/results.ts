import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkOf } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { nodeIdOf, toWire } from '#protocol/wire.ts';
import type { CheckRun } from '../check-run.ts';
import { ApiFailure } from './failure.ts';
import { hasVersion } from './negotiate.ts';
import { type Parameters, parametersOf } from './parameters.ts';
import type { ServiceOptions } from './settings.ts';

/**
 * Answers with the run that a request names, after the wait that it asks for: until all nodes are done, or until there is something new
 * for a caller that names its version. Throws `not_found`. A caller that need not wait gets the
 * answer at once: a promise for each of the many that poll costs more than finding what they ask for.
 */
export function withRun(
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
  { checks, clock }: ServiceOptions,
  answer: (run: CheckRun) => FastifyReply,
): Promise<FastifyReply> | undefined {
  const run = checks.find(id);
  if (run === null) throw new ApiFailure('not_found', 'there is no such check, or not any more');
  const answerAfter = (waitMs: number) => {
    const isEnough =
      request.headers['if-none-match'] === undefined ? () => run.done : () => !hasVersion(request, etagOf(run));
    return waitFor(run, { isEnough, waitMs, reply, clock }).then(() => answer(run));
  };
  const parameters = parametersOf(request);
  if (parameters instanceof Promise) return parameters.then((read) => answerAfter(waitOf(read)));
  const waitMs = waitOf(parameters);
  if (waitMs > 0 && !run.done) return answerAfter(waitMs);
  void answer(run);
  return undefined;
}

interface RunWait {
  readonly isEnough: () => boolean;
  readonly waitMs: number;
  readonly reply: FastifyReply;
  readonly clock: Clock;
}

async function waitFor(run: CheckRun, { isEnough, waitMs, reply, clock }: RunWait): Promise<void> {
  using gone = abortOnHangUp(reply);
  const until = clock.elapsed() + waitMs;
  while (!isEnough() && !run.done && !gone.signal.aborted && clock.elapsed() < until) {
    await change(run, run.version, until - clock.elapsed(), clock, gone.signal);
  }
}

const etagOf = (run: CheckRun) => `"${run.id}-${run.version}"`;

/** Sends a version of a run: not again to a client that has it, and for good once the run is done. */
export function sendVersion(request: FastifyRequest, reply: FastifyReply, run: CheckRun, text: () => string) {
  const etag = etagOf(run);
  reply.header('etag', etag).header('cache-control', run.done ? 'private, max-age=86400, immutable' : 'no-cache');
  if (hasVersion(request, etag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text());
}

/** The texts of a run, made once for each of its versions. */
export function createTexts({ nodeDomain, compatible }: Pick<ServiceOptions, 'nodeDomain' | 'compatible'>) {
  const dialect = compatible ? 'check-host.net' : 'interface';

  const row = (run: CheckRun, position: number): Record<string, unknown> => {
    const result = run.results[position];
    if (result === undefined) return {};
    const { node, outcome } = result;
    const value = outcome === null ? null : toWire(outcome, run.spec.type, dialect);
    return { [nodeIdOf(node.name, nodeDomain)]: value };
  };

  const plain = (run: CheckRun): string => {
    if (run.answer?.by === row) return run.answer.text;
    const text = JSON.stringify(Object.assign({}, ...run.results.map((_, position) => row(run, position))));
    run.answer = { by: row, text };
    return text;
  };

  const extended = (run: CheckRun): string => {
    const { spec, createdAt } = run;
    const port = checkOf(spec.type).port(spec);
    const head = {
      command: spec.type,
      created: Math.floor(createdAt / 1_000),
      host: spec.host,
      ...(port === null ? {} : { port }),
    };
    return `${JSON.stringify(head).slice(0, -1)},"results":${plain(run)}}`;
  };

  return { row, plain, extended };
}

export type Texts = ReturnType<typeof createTexts>;

const beatMs = 10_000;

/** Server-sent events: `result` for each node as it finishes, then `done`, after which the client need not come back. */
export function sendEvents(request: FastifyRequest, reply: FastifyReply, run: CheckRun, texts: Texts, clock: Clock) {
  if (request.headers['last-event-id'] === 'done') return reply.code(204).send();
  const gone = abortOnHangUp(reply);

  async function* events(): AsyncGenerator<string> {
    const sent = new Set<number>();
    try {
      yield 'retry: 2000\n\n';
      for (;;) {
        const seen = run.version;
        for (const [position, { outcome }] of run.results.entries()) {
          if (outcome === null || sent.has(position)) continue;
          sent.add(position);
          yield `event: result\nid: ${position}\ndata: ${JSON.stringify(texts.row(run, position))}\n\n`;
        }
        if (run.done && seen === run.version) break;
        if (seen === run.version && !(await change(run, seen, beatMs, clock, gone.signal))) yield ': still working\n\n';
        if (gone.signal.aborted) return;
      }
      yield `event: done\nid: done\ndata: {}\n\n`;
    } finally {
      gone[Symbol.dispose]();
    }
  }

  return reply
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .type('text/event-stream; charset=utf-8')
    .send(Readable.from(events()));
}

export const longestWaitSeconds = 25;

function waitOf(parameters: Parameters): number {
  const written = parameters.one('wait') ?? '0';
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(written)) return Math.min(Number(written), longestWaitSeconds) * 1_000;
  // A caller that believes that it waits would ask again at once.
  throw new ApiFailure('bad_request', `wait: expected seconds, such as 10 (got "${written}")`);
}

/** Resolves to true at the next outcome or interim result, to false after `ms` or once the signal is aborted. */
async function change(run: CheckRun, seen: string, ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (run.version !== seen) return true;
  if (signal.aborted) return false;
  return new Promise<boolean>((resolve) => {
    const end = (changed: boolean) => {
      listener[Symbol.dispose]();
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', onAbort);
      resolve(changed);
    };
    const onAbort = () => end(false);
    const listener = run.onChange(() => end(true));
    const timer = clock.after(ms, () => end(false));
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

function abortOnHangUp(reply: FastifyReply): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const onClose = () => controller.abort(new Error('the client hung up'));
  reply.raw.once('close', onClose);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => void reply.raw.removeListener('close', onClose),
  };
}
