/** Where lines of results go. */
export interface ResultSink<Settings = never> {
  /** Takes lines at once; they are written or sent soon. */
  add(lines: readonly string[]): void;
  /** Writes or sends elsewhere from now on, and so what waits. */
  reconfigure(settings: Settings): void;
  /** Tries once more to write or send what waits. */
  stop(): Promise<void>;
}
