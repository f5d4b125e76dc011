import { type Clock, deadline } from '#kernel/clock.ts';
import { EndSignal } from '#kernel/end-signal.ts';
import type { Log } from '#kernel/log.ts';
import { createWheel, type Wheel } from '#schedule/wheel.ts';
import type { Vote } from '../judge/vote.ts';
import type { CheckServiceClient, RoundListener, Runner, RunRequest, WatchHandle, WatchedTarget } from './runner.ts';

interface PolledTarget {
  readonly name: string;
  readonly schedule: WatchedTarget['schedule'];
  readonly target: WatchedTarget;
  readonly listener: RoundListener;
  readonly work: AbortController;
  /** The round that runs. */
  running: Promise<void> | null;
}

// No check takes as long: what is beyond it is a hang of ours.
const roundLimitMs = 180_000;

/** Keeps the schedule for a service that runs checks on request: each round is requested when it is due. */
export function watchByRuns(client: CheckServiceClient, clock: Clock, log: Log): Runner {
  const wheel: Wheel<PolledTarget> = createWheel({
    clock,
    start(polled, dueAt) {
      if (polled.running !== null) return polled.listener.skipped(1);
      polled.running = run(polled, dueAt).finally(() => {
        polled.running = null;
      });
    },
    skipped: ({ listener }, count) => listener.skipped(count),
  });

  async function run({ target, listener, work }: PolledTarget, dueAt: number): Promise<void> {
    const startedAt = clock.now();
    const round = { target: target.name, dueAt };
    const votes = await collectVotes(
      client,
      { spec: target.spec, nodes: target.nodes, round },
      work.signal,
      clock,
      log,
    );
    if (!work.signal.aborted) void listener.round({ dueAt, startedAt, votes });
  }

  return {
    ...(client.url !== undefined && { url: client.url }),
    nodes: () => client.nodes(),
    run: async (request, signal) => client.run(request, signal),
    // Each round waits for its own results.
    waitedMs: () => 0,
    watch(target, listener): WatchHandle {
      const { name, schedule } = target;
      const polled: PolledTarget = { name, schedule, target, listener, work: new AbortController(), running: null };
      const ending = new EndSignal();
      wheel.add(polled);
      return {
        get underWay() {
          return polled.running !== null;
        },
        get ended() {
          return ending.promise;
        },
        stop() {
          wheel.remove(name);
          void (polled.running ?? Promise.resolve()).then(() => ending.end());
        },
        cut() {
          wheel.remove(name);
          polled.work.abort(new Error('this round was cancelled'));
          ending.end();
        },
      };
    },
  };
}

/** What the nodes see now; trouble of ours is a round without votes. */
export async function collectVotes(
  runner: Pick<CheckServiceClient, 'run'>,
  request: RunRequest,
  signal: AbortSignal,
  clock: Clock,
  log: Log,
): Promise<readonly Vote[]> {
  using limit = deadline(clock, roundLimitMs, signal);
  try {
    const { votes } = await runner.run(request, limit.signal);
    return votes;
  } catch (error) {
    if (!signal.aborted) log.error({ err: error, ...request.round }, 'cannot run round');
    return [];
  }
}
