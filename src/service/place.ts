import type { Recurring } from '#schedule/wheel.ts';
import type { Assignable, WatchedTarget } from './assignments.ts';
import type { NodeStatus } from './ports.ts';
import type { TargetRounds } from './rounds.ts';

/** A target that is looked at by its schedule. */
export interface Watched {
  /** Whether a round was due and is not over. */
  readonly underWay: boolean;
  /** Nothing begins any more; rounds that have begun go on. */
  stop(): void;
  /** Nothing is heard any more. */
  cut(): void;
  /** Resolves when nothing more will be heard. */
  readonly ended: Promise<void>;
}

/** Everything about a target that is watched. */
export interface Place extends Recurring, Assignable {
  readonly target: WatchedTarget;
  readonly rounds: TargetRounds;
  /** The nodes that are asked for each check. */
  asked: readonly NodeStatus['info'][];
  /** When it was told to stop: nothing that is due later begins. */
  stoppedAt: number;
  /** Ends what was asked for. */
  readonly work: AbortController;
  isAsking: boolean;
  readonly end: () => void;
}
