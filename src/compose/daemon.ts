import type { ReloadResult } from '#config/apply/reload.ts';
import type { HistoryReader } from '#history/reader.ts';
import type { WebServer } from '#web/server.ts';
import type { States } from '#web/state/states.ts';

/** The running program. */
export interface Daemon {
  readonly web: WebServer;
  readonly history: HistoryReader;
  /** How targets are: those that changed after this version, all after 0. */
  states(version: number): States;
  /** Called at every change of them. */
  onChange(listener: () => void): Disposable;
  /** Rejects when the program cannot go on by a defect of ours. */
  readonly ended: Promise<void>;
  /** Loads the configuration anew and applies it; an invalid one changes nothing. */
  reload(cause: string): Promise<ReloadResult>;
  /**
   * No new rounds; running ones finish within a deadline; the outbox is tried once; the store is closed.
   * Rejects where rounds were lost.
   */
  stop(): Promise<void>;
}
