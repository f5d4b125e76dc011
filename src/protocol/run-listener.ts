import type { WholeResponse } from '#checks/index.ts';

/** Called while a node runs a check. */
export interface RunListener {
  /** The check began, in milliseconds since the epoch; by the clock of the side that calls back. */
  readonly onStarted?: (at: number) => void;
  /** What has been measured so far, in the shape of the check type's `Detail`. Only if the command has `wantsInterim`. */
  readonly onInterim?: (detail: unknown) => void;
  /** The last response to an http check; only of a node in the same thread. */
  readonly onResponse?: (response: WholeResponse) => void;
}
