import type { MonitorRuntime } from '#compose/monitor.ts';
import type { Config } from '#config/config.ts';
import { WatchpostError } from '#kernel/errors.ts';

/** The monitor, for those that are started before it and refer to it. */
export interface StartupState {
  /** Null until it is started. */
  readonly watching: MonitorRuntime | null;
  /** Throws `starting` until it is started. */
  started(): MonitorRuntime;
  readonly inForce: () => Config;
  put(watching: MonitorRuntime): void;
}

export function createUpcoming(config: Config): StartupState {
  let watching: MonitorRuntime | null = null;
  return {
    get watching() {
      return watching;
    },
    started() {
      if (watching === null) throw new WatchpostError('starting', 'not started yet: try again in a moment');
      return watching;
    },
    inForce: () => watching?.reloader.inForce ?? config,
    put(started) {
      watching = started;
    },
  };
}
