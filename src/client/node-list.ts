import { failure, type Failure } from '#checks/index.ts';
import { type Clock, orAbort } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Directory } from './directory.ts';
import type { Http } from './http.ts';

export interface NodeListOptions {
  readonly http: Http;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends what goes on in the background. */
  readonly closing: AbortSignal;
}

/** Keeps the directory up to date. */
export interface NodeListCache {
  /** Fetches it in the background if there is none yet or an old one; nothing if that goes on already. */
  keep(): void;
  /** The same, and waits if there is none yet. Rejects with the signal's reason only. */
  ensure(signal: AbortSignal): Promise<void>;
  /** Why the last list could not be fetched; null if it could, or none was fetched yet. */
  readonly trouble: Failure | null;
  /** A node turned up that is not in it. */
  outdated(): void;
}

const freshMs = 3_600_000;
const retryMs = 60_000;
const timeoutMs = 15_000;

export function createNodeList({ http, directory, clock, log, closing }: NodeListOptions): NodeListCache {
  let nextAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  let trouble: Failure | null = null;

  async function fetchList(): Promise<Failure | null> {
    triedAt = clock.elapsed();
    nextAt = triedAt + retryMs;
    const reply = await http.get({ path: '/nodes/hosts', query: [], timeoutMs, signal: closing });
    if (reply.kind === 'trouble') return reply.failure;
    if (!directory.replace(reply.body)) {
      return failure('service', 'service_answer', "the check service's answer has no list of nodes");
    }
    nextAt = clock.elapsed() + freshMs;
    return null;
  }

  async function refresh(): Promise<void> {
    try {
      trouble = await fetchList();
      if (trouble !== null) log.warn({ reason: trouble.message }, 'cannot fetch the list of nodes');
    } catch (error) {
      if (!closing.aborted) log.error({ err: error }, 'cannot fetch the list of nodes');
    } finally {
      running = null;
    }
  }

  function keep(): void {
    if (clock.elapsed() >= nextAt) running ??= refresh();
  }

  return {
    keep,
    get trouble() {
      return trouble;
    },
    async ensure(signal) {
      keep();
      if (running !== null && directory.nodes().length === 0) await orAbort(running, signal);
    },
    outdated() {
      nextAt = Math.min(nextAt, triedAt + retryMs);
    },
  };
}
