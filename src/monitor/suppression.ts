/**
 * Why the beginning of an incident is not told for now. Only that is ever held back: checks, history and the end of what was
 * told are not.
 */
export interface Held {
  readonly by: 'maintenance' | 'silence' | 'dependency' | 'connectivity' | 'outage';
  /** In words: `maintenance until 2026-01-01 04:00:00 UTC`. */
  readonly why: string;
}
