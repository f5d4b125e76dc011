import { z } from 'zod';
import type { CheckSpec, Outcome, Policy } from '#checks/index.ts';
import { goldenRatio } from '#kernel/hash.ts';
import { isRecord } from '#kernel/json.ts';

// The assignment that a node watches by its own schedule, and its results. It says nothing of single checks that are asked for: those
// are commands.

// Due times are multiples of it, before `since` of another.
const slots = z
  .object({ ms: z.int().min(1).max(60_000), since: z.number(), beforeMs: z.int().min(1).max(60_000) })
  .optional();

/** When a target is due. */
export const DueLimit = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('every'), everyMs: z.int().min(1), slots }),
  z.object({ kind: z.literal('cron'), pattern: z.string().max(200), timezone: z.string().max(100), slots }),
]);
export type DueLimit = z.output<typeof DueLimit>;

/** The versions of the protocol that a program speaks. */
export const Range = z.tuple([z.int(), z.int()]);
/** A name that a process of a node made up when it started. */
export const Process = z.string().regex(/^[A-Za-z0-9]{1,64}$/);

/** Since this version of the protocol nodes watch by themselves. */
export const watchingSince = 3;

const mostName = 500;
const mostRevision = 100;
const mostType = 100;
const Name = z.string().min(1).max(mostName);
const Revision = z.string().max(mostRevision);
const Epoch = z.string().max(64);
const Moment = z.number();

/** A target as it is sent. */
export const WireTarget = z.object({
  name: Name,
  revision: Revision,
  spec: z.unknown(),
  schedule: DueLimit,
  policy: z.enum(['public', 'private']),
  deadlineMs: z.int().min(1).max(600_000),
});

/** A part of an assignment, hub to process, answered like a command. The last part brings the whole into force. */
export const AssignMessage = z.object({
  protocol: Range,
  /** Names the run of the hub: each numbers its assignments by itself. */
  epoch: Epoch,
  number: z.int().min(0),
  part: z.object({ index: z.int().min(0), of: z.int().min(1).max(100_000) }),
  targets: z.array(z.unknown()),
  /**
   * The number of an assignment of this epoch: `targets` are only those that are new or others since then, and `removed` names those
   * that are gone. Only for a process that says that it watches that one, and takes changes.
   */
  base: z.int().min(0).optional(),
  removed: z.array(Name).optional(),
});
export type AssignMessage = z.output<typeof AssignMessage>;

/** What a process of a node watches; in its reports. */
export const WatchingState = z.object({
  epoch: Epoch,
  number: z.int().min(0),
  targets: z.int().min(0),
  /** Every due time after it is kept or passed over: by the hub's clock. */
  since: Moment,
  /** Whether it takes what is other than in this assignment for the next one; absent if it has to be sent whole. */
  takesChanges: z.boolean().optional(),
});

/** An assignment as a node keeps it on disk. */
export const RetainedResults = z.object({
  epoch: Epoch,
  number: z.int().min(0),
  /** How far the clock of the node was ahead of the hub's. */
  aheadMs: z.number(),
  targets: z.array(z.unknown()),
});
export type RetainedResults = z.output<typeof RetainedResults>;

/** The first and the last due time of some rounds, in milliseconds since the epoch. */
export const DueSpan = z.object({ from: Moment, until: Moment });
export type DueSpan = z.output<typeof DueSpan>;

/** Some of the checks that were due in a span were not begun, so many of them because there is too much to check, and not for a moment only. */
export const PassedChecks = z.object({ checks: z.int().min(0), due: DueSpan });
export type PassedChecks = z.output<typeof PassedChecks>;

/**
 * All of a batch but its results, which a hub reads first: it stands before them in the JSON. A batch is answered by a receipt once
 * they are stored, and may come again until that was heard.
 */
export const BatchHead = z.object({
  kind: z.literal('batch'),
  protocol: Range,
  ticket: z.string().min(1).max(1_000),
  process: Process,
  /** Whether any result is not up, or not as before; absent in a batch of an earlier version. */
  news: z.boolean().optional(),
  /** The due times of its results; absent in a batch of an earlier version. */
  due: DueSpan.optional(),
  /** How many they are; the same. */
  results: z.int().min(0).optional(),
  /** Healthy results that the node did not send since the batch before, for the hub did not grant them. */
  skipped: z.object({ results: z.int().min(0), due: DueSpan }).optional(),
  /** The checks that the node passed over since the batch before, for it had more to check than it could. */
  passed: PassedChecks.optional(),
});
export type BatchHead = z.output<typeof BatchHead>;

/** A result as a batch has it: an observation, but the outcome of any type of check, unread. */
export interface WireResult {
  readonly target: string;
  readonly revision: string;
  /** The type of the check. */
  readonly type: string;
  readonly dueAt: number;
  readonly startedAt: number;
  readonly outcome: unknown;
}

// The name of version 2 of the protocol, which nodes of earlier versions use.
const resultsName = 'sightings';

/** What stands between the head of a batch and its results, in JSON. */
export const resultsBeginning = `"${resultsName}":[`;

/** The results of a batch, from what its JSON says; null if they are none. By hand, for there are thousands each second. */
export function readWireResults(written: unknown): readonly WireResult[] | null {
  const results = isRecord(written) ? written[resultsName] : null;
  return Array.isArray(results) && results.every(isWireResult) ? results : null;
}

function isWireResult(written: unknown): written is WireResult {
  if (!isRecord(written)) return false;
  const { target, revision, type, dueAt, startedAt } = written;
  return (
    isText(target, mostName) &&
    target !== '' &&
    isText(revision, mostRevision) &&
    isText(type, mostType) &&
    Number.isSafeInteger(dueAt) &&
    Number.isFinite(startedAt)
  );
}

const isText = (written: unknown, most: number): written is string =>
  typeof written === 'string' && written.length <= most;

const grantSlotMs = 100;

/**
 * Whether a node sends its healthy results of rounds that were due then, if the hub takes this share of them. It is a matter of the
 * moment alone: all nodes send those of the same rounds. Of each second it is the share, in tenths spread over it, so that no second
 * brings more than another; which of them is another matter in each, and no interval of a target makes it one that is never sent.
 */
export function isGranted(dueAt: number, share: number): boolean {
  if (share >= 1) return true;
  const second = Math.floor(dueAt / 1_000);
  const slot = Math.floor((dueAt - second * 1_000) / grantSlotMs);
  return (scatter(second) + slot * goldenRatio) % 1 < share;
}

// The finalizer of MurmurHash3, as a number in [0, 1).
function scatter(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** What the JSON of every batch begins with. Batches come if results of commands do: nodes may write nowhere else. */
export const batchBeginning = '{"kind":"batch"';

/** A target as a node watches it. */
export interface AssignedTarget {
  readonly name: string;
  /** Names what is checked and when: what was seen of another revision is not a vote of this one. */
  readonly revision: string;
  readonly spec: CheckSpec;
  readonly schedule: DueLimit;
  /** What the sender of the assignment may reach; the node's own policy can only narrow it. */
  readonly policy: Policy;
  /** When the node gives up on a check, in milliseconds from its beginning. */
  readonly deadlineMs: number;
  /** Why a node cannot read what is to be checked, if it cannot. */
  readonly unreadable?: string;
}

/** Whether a node that watches the one watches the other as it is. */
export function isSameTarget(one: AssignedTarget, other: AssignedTarget | undefined): boolean {
  if (one === other) return true;
  if (one.name !== other?.name || one.revision !== other.revision || one.policy !== other.policy) return false;
  const [slots, others] = [one.schedule.slots, other.schedule.slots];
  return slots?.ms === others?.ms && slots?.since === others?.since;
}

/** All that a node is to watch, in place of what it watched before. */
export interface Assignment {
  /** Counts up with each one for this node. */
  readonly number: number;
  readonly targets: readonly AssignedTarget[];
}

/** What a node saw of a target when it was due. */
export interface Observation {
  readonly target: string;
  readonly revision: string;
  /** In milliseconds since the epoch, by the hub's clock: with the target, the name of the round. */
  readonly dueAt: number;
  readonly outcome: Outcome;
  /** When the check began, by the hub's clock. */
  readonly startedAt: number;
}
