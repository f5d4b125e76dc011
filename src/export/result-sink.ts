/** Where lines of results go. */
export interface ResultSink {
  /** Takes lines at once; they are written or sent soon. */
  add(lines: readonly string[]): void;
  /** Tries once more to write or send what waits. */
  stop(): Promise<void>;
}
