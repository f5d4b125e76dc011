import { checkOf, type CheckSpec, failed, failure, type Failure, type Outcome } from '#checks/index.ts';
import { type Clock, sleep } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import { formatDuration } from '#kernel/units.ts';
import { CheckResult } from '#protocol/shapes.ts';
import { fromWire } from '#protocol/wire.ts';
import type { Http } from './http.ts';
import type { ServiceReply } from './reply.ts';

/** A check that runs at the other side. */
export interface StartedCheck {
  readonly requestId: string;
  readonly type: CheckSpec['type'];
  readonly ids: readonly string[];
  readonly limitMs: number;
}

export interface Poller {
  /**
   * Collects an outcome from every node until the check's limit: a node without one by then is unknown, with the last
   * trouble as the reason. Tells `onChange` whenever nodes have finished.
   */
  collect(check: StartedCheck, signal: AbortSignal, onChange?: OutcomeListener): Promise<ReadonlyMap<string, Outcome>>;
}

export type OutcomeListener = (outcomes: ReadonlyMap<string, Outcome>) => void;

export interface PollerOptions {
  readonly http: Http;
  readonly clock: Clock;
  readonly random: Random;
  readonly onPause: (ms: number) => void;
}

const firstDelayMs = 500;
const longestDelayMs = 5_000;
const waitSeconds = 20;
const requestMs = 10_000;
const mostGone = 2;

/** How long the nodes of a check may take before they count as lost: their own deadline, and the way there and back. */
export function limitOf(spec: CheckSpec): number {
  return Math.max(checkOf(spec.type).deadlineMs(spec) + 15_000, 40_000);
}

/**
 * Polls with growing pauses. It asks for `?wait=` first, which answers when all nodes are done: a service that answers at
 * once although some are not, or refuses the parameter, does not have it and is not asked for it again.
 */
export function createPoller({ http, clock, random, onPause }: PollerOptions): Poller {
  let waits = true;

  async function ask(requestId: string, wait: number, signal: AbortSignal): Promise<ServiceReply> {
    const query = wait > 0 ? [['wait', String(wait)] as const] : [];
    return http.get({ path: `/check-result/${requestId}`, query, timeoutMs: wait * 1_000 + requestMs, signal });
  }

  return {
    async collect({ requestId, type, ids, limitMs }, signal, onChange) {
      const outcomes = new Map<string, Outcome>();
      const endsAt = clock.elapsed() + limitMs;
      let last: Failure | null = null;
      let gone = 0;
      let delayMs = firstDelayMs;
      while (outcomes.size < ids.length && clock.elapsed() < endsAt) {
        const askedAt = clock.elapsed();
        const leftSeconds = Math.floor((endsAt - askedAt) / 1_000);
        // Who looks on wants to see the first results before the last.
        const wait = waits && onChange === undefined ? Math.min(waitSeconds, leftSeconds) : 0;
        const reply = await ask(requestId, wait, signal);
        const before = outcomes.size;
        if (reply.kind === 'json') {
          gone = 0;
          last = take(reply.body, type, ids, outcomes);
          if (outcomes.size > before) onChange?.(outcomes);
          if (wait > 0 && outcomes.size < ids.length && clock.elapsed() - askedAt < wait * 500) waits = false;
        } else {
          last = reply.failure;
          gone = reply.gone ? gone + 1 : 0;
          if (wait > 0 && reply.failure.code === 'service_answer') waits = false;
          if (gone >= mostGone) break;
        }
        if (outcomes.size === ids.length) break;
        if (reply.pauseMs !== null) onPause(reply.pauseMs);
        const restMs = Math.max(delayMs * (0.8 + 0.4 * random.next()), reply.pauseMs ?? 0);
        delayMs = Math.min(delayMs * 1.5, longestDelayMs);
        if (clock.elapsed() + restMs >= endsAt) {
          await sleep(clock, Math.max(0, endsAt - clock.elapsed()), signal);
          break;
        }
        await sleep(clock, restMs, signal);
      }
      for (const id of ids) if (!outcomes.has(id)) outcomes.set(id, failed(last ?? late(limitMs)));
      return outcomes;
    },
  };
}

// A node that is missing in the map is pending, like one whose value is null.
function take(
  body: unknown,
  type: CheckSpec['type'],
  ids: readonly string[],
  outcomes: Map<string, Outcome>,
): Failure | null {
  const result = CheckResult.safeParse(body);
  if (!result.success) return failure('service', 'service_answer', "the check service's answer has no map of results");
  for (const id of ids) {
    if (outcomes.has(id)) continue;
    const outcome = fromWire(result.data[id] ?? null, type);
    if (outcome !== null) outcomes.set(id, outcome);
  }
  return null;
}

function late(limitMs: number): Failure {
  const within = formatDuration(limitMs);
  return failure('service', 'service_answer', `the check service had no result of this node within ${within}`);
}
