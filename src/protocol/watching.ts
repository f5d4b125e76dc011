import { z } from 'zod';
import type { CheckSpec, Outcome, Policy } from '#checks/index.ts';

// What a node is told to watch by its own wheel, and what it tells of it. It says nothing of single checks that are asked for: those
// are commands.

/** When a target is due. */
export const DueBy = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('every'), everyMs: z.int().min(1) }),
  z.object({ kind: z.literal('cron'), pattern: z.string().max(200), timezone: z.string().max(100) }),
]);
export type DueBy = z.output<typeof DueBy>;

/** A target as a node watches it. */
export interface AssignedTarget {
  readonly name: string;
  /** Names what is checked and when: what was seen of another revision is not a vote of this one. */
  readonly revision: string;
  readonly spec: CheckSpec;
  readonly schedule: DueBy;
  /** What whoever asked may reach; the node's own policy can only narrow it. */
  readonly policy: Policy;
  /** When the node gives up on a check, in milliseconds from its beginning. */
  readonly deadlineMs: number;
}

/** All that a node is to watch, in place of what it watched before. */
export interface Assignment {
  /** Counts up with each one for this node. */
  readonly number: number;
  readonly targets: readonly AssignedTarget[];
}

/** What a node saw of a target when it was due. */
export interface Sighting {
  readonly target: string;
  readonly revision: string;
  /** In milliseconds since the epoch, by the hub's clock: with the target, the name of the round. */
  readonly dueAt: number;
  readonly outcome: Outcome;
  /** When the check began, by the hub's clock. */
  readonly startedAt: number;
}
