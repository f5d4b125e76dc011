/** What goes on beside everything else. */
export interface BackgroundTask {
  /** Resolves when it is over, by itself or because it was stopped. */
  readonly ended: Promise<void>;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** Begins `work`, which goes on until its signal is aborted. `name` says who stopped to whatever it waits for then. */
export function untilStopped(name: string, work: (signal: AbortSignal) => Promise<void>): BackgroundTask {
  const stopping = new AbortController();
  const ended = work(stopping.signal);
  return {
    ended,
    async stop() {
      stopping.abort(new Error(`${name} stops`));
      await ended;
    },
  };
}
