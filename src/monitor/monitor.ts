import { type Clock, deadline, orAbort } from '#kernel/clock.ts';
import type { Memory } from './decide.ts';
import type { StoredTarget } from './ports.ts';
import type { Target } from './target.ts';
import { watch, type WatchPorts } from './watch.ts';

/** The running monitor: one loop for each target. */
export interface Monitor {
  /** Resolves when it has stopped; rejects when a target is not watched any more by a defect of ours. */
  readonly ended: Promise<void>;
  /** By how many milliseconds the target that has waited longest for its round is late; 0 where none is. */
  overdueMs(): number;
  /**
   * Starts no new rounds, lets those that run finish for `ms` milliseconds, then ends them. Resolves when nothing runs any
   * more; calling it again waits for the same end.
   */
  stop(ms: number): Promise<void>;
}

export function startMonitor(targets: readonly Target[], ports: WatchPorts): Monitor {
  const schedule = new AbortController();
  const work = new AbortController();
  const stored = new Map(ports.store.load().map((one) => [one.target, one]));
  const expected = new Map<string, number>();
  const watching: WatchPorts = { ...ports, events: { ...ports.events, roundAwaited } };
  const signals = { schedule: schedule.signal, work: work.signal };
  const loops = targets.map((target) => watch(target, memoryOf(stored.get(target.name)), watching, signals));
  // Without targets, or with cron patterns that are over for good, there is still something to serve.
  const stopping = new Promise<void>((resolve) => {
    schedule.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const ended = Promise.all([...loops, stopping]).then(() => {});

  function roundAwaited(target: Target, dueAt: number): void {
    expected.set(target.name, dueAt);
    ports.events.roundAwaited(target, dueAt);
  }

  return {
    ended,
    overdueMs() {
      let oldest = Number.POSITIVE_INFINITY;
      for (const dueAt of expected.values()) oldest = Math.min(oldest, dueAt);
      return Math.max(0, ports.clock.now() - oldest);
    },
    async stop(ms) {
      schedule.abort(new Error('the monitor is stopping'));
      if (!(await endsWithin(ended, ports.clock, ms))) {
        work.abort(new Error('the monitor is stopping'));
        await ended;
      }
    },
  };
}

function memoryOf(stored: StoredTarget | undefined): Memory {
  return {
    states: new Map(stored?.states.map((state) => [state.rule, state])),
    openIncidents: new Map(stored?.openIncidents.map((incident) => [incident.id, incident])),
  };
}

async function endsWithin(ended: Promise<void>, clock: Clock, ms: number): Promise<boolean> {
  using limit = deadline(clock, ms);
  try {
    await orAbort(ended, limit.signal);
    return true;
  } catch (error) {
    if (limit.expired) return false;
    throw error;
  }
}
