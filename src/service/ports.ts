import {
  type Capability,
  type CheckSpec,
  type CheckTypeName,
  failed,
  failure,
  type NodeInfo,
  type Outcome,
  type Policy,
} from '#checks/index.ts';
import type { Losses } from '#protocol/losses.ts';
import type { RunListener } from '#protocol/run-listener.ts';
import type { Assignment, DueSpan, Observation, PassedChecks } from '#protocol/watching.ts';

/** Results of what a node watches. */
export interface ResultBatch {
  readonly node: string;
  readonly observations: readonly Observation[];
  /** To be called once all of it is stored, or is not wanted; null if nothing waits for that. */
  readonly confirm: (() => void) | null;
}

/** The same, not parsed yet. It ends with the first call of one of its functions. */
export interface UnreadBatch {
  readonly node: string;
  readonly bytes: number;
  /** Whether any of its results is not up, or not as before. */
  readonly isNews: boolean;
  /** The due times of its results, or more. */
  readonly due: DueSpan;
  /** How many results it has. */
  readonly results: number;
  /** Parses it. Null if it has no result that can be used: its node has its answer by then. */
  read(): ResultBatch | null;
  /** Has the node drop it: this process is overloaded. */
  skip(): void;
  /** Has the node send it again later. */
  postpone(): void;
}

/** Who hears what nodes tell of the targets that they watch by themselves. */
export interface NodeListener {
  /**
   * Every due time after `since`, by our clock in milliseconds since the epoch, is kept by the node or passed over; infinity where
   * it keeps none any more.
   */
  watching(node: string, number: number, since: number): void;
  /**
   * Results of a node. `confirm`, unless it is null, is to be called once all of it is stored, or is not wanted. `isNews`: any of them
   * is not up, or not as before.
   */
  seen(node: string, observations: readonly Observation[], confirm: (() => void) | null, isNews?: boolean): void;
  /** Takes results that are parsed only when their turn comes; without it they are parsed at once, for `seen`. */
  receive?(batch: UnreadBatch): void;
  /** Which share of its healthy results a node on another machine is to send; all of them without it. */
  granted?(): number;
  /** So many healthy results that were due then were not sent by a node, for they were not granted. */
  skipped?(node: string, due: DueSpan, results: number): void;
  /** A node passed over these, for it had more to check than it could. */
  passedOver?(node: string, passed: PassedChecks): void;
  /** Whether there is a target of this name. */
  watches?(target: string): boolean;
  /** Why what a node on another machine says it saw cannot be so, in words; null if it can. The node gets that answer, and drops it. */
  refuses?(node: string, observation: Observation): string | null;
}

/** One check for one node, as it is sent. */
export interface NodeCommand {
  readonly spec: CheckSpec;
  readonly policy: Policy;
  readonly deadlineMs: number;
  /** The name of the run if its results are stored: what a result that comes late is stored under. */
  readonly run?: string | undefined;
  /** For whom it is, by default the monitor: its checks have room of their own at a node. */
  readonly origin?: 'monitor' | 'api' | undefined;
  /** Whether the node is to pass on what has been measured so far, if the type does that. */
  readonly wantsInterim?: boolean | undefined;
}

export interface NodeStatus {
  readonly info: NodeInfo;
  readonly online: boolean;
  /** Whether it is being started for the first time. */
  readonly starting?: boolean;
  /** Why it is not online, or null. */
  readonly reason: string | null;
  /** Whether it watches what it is assigned by itself; else it is asked for each check. */
  readonly keepsTime?: boolean;
  readonly capabilities: Readonly<Partial<Record<CheckTypeName, Capability>>>;
  readonly running: number;
  readonly queued: number;
  readonly lagSeconds: number;
  /** How much of what it takes for the API is taken, from 0; from 1 on it is full. Absent if that is not known. */
  readonly load?: number;
  /** How far its clock is ahead of ours; null or absent if that is not known, or the clock is the same. */
  readonly clockOffsetSeconds?: number | null;
  /** How long a question to us takes it; the same. */
  readonly roundTripSeconds?: number | null;
  /** The version of the program that runs it, and how many results it could not hand in yet; null or absent in this process. */
  readonly version?: string | null;
  readonly spooled?: number | null;
  /** What it did not see, or saw in vain, since it started; absent if not known. */
  readonly losses?: Losses | undefined;
  /** How many of its results were refused here since this process began; absent for a node of this process. */
  readonly refusedResults?: number;
  /** When the newest of the results that it dropped was observed, in milliseconds since the epoch; null or absent for none. */
  readonly newestDroppedAt?: number | null;
}

/** How the service reaches nodes: threads of this process, or other machines. */
export interface Transport {
  nodes(): readonly NodeStatus[];
  /**
   * Runs a command on the named node. Resolves to an outcome also if the node is gone, dies or refuses (unknown, source
   * `node`); rejects only with the signal's reason. The listener is called before this resolves: with the beginning, by our
   * clock, if the node states it, and with interim results, some of which may be lost.
   */
  run(node: string, command: NodeCommand, signal: AbortSignal, listener?: RunListener): Promise<Outcome>;
  /** Has a node that keeps the time watch this, in place of what it was assigned before, as soon as it can hear of it. */
  assign(node: string, assignment: Assignment): void;
  /** Sets the listener for what nodes watch. */
  listen(listener: NodeListener): void;
  close(): Promise<void>;
}

/** The outcome of a check whose node is not there, or went away in the middle. */
export function nodeGoneOutcome(message: string): Outcome {
  return failed(failure('node', 'gone', message));
}

/** The outcome of a check that its node does not run, because it ends nodes. */
export function suspendedOutcome(message: string): Outcome {
  return failed(failure('node', 'internal', message));
}

/** A run as it is kept: what was to be checked, by which nodes, and what came back. */
export interface StoredRun {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly spec: CheckSpec;
  /** In the order of the nodes; an outcome is null until the node has answered. */
  readonly results: readonly NodeResult[];
}

export interface NodeResult {
  readonly node: NodeInfo;
  readonly outcome: Outcome | null;
  /** What the node has measured so far, as an outcome that is not finished; only without an outcome, and never stored. */
  readonly interim?: Outcome;
}

/** The check service's memory. */
export interface ServiceStore {
  /** Resolves once a run without outcomes is committed; rejects with `store_failed` if it cannot be. */
  addRun(run: Omit<StoredRun, 'results'> & { readonly nodes: readonly NodeInfo[] }): Promise<void>;
  /**
   * Keeps the outcome of the node at `position`. Written soon, together with others; while the database refuses, it waits
   * in memory as far as there is room.
   */
  addOutcome(id: string, position: number, outcome: Outcome): void;
  /** A run with the outcomes that were committed, or null. */
  findRun(id: string): StoredRun | null;
  /** Deletes up to `limit` runs that were created before `before`, oldest first, and says how many it deleted. */
  pruneRuns(options: { readonly before: number; readonly limit: number }): number;
}

/** A page for a browser: its text with the headers that it needs. */
export interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An image, as it is sent. */
export interface Picture {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** How the service speaks to people with a browser. */
export interface ServicePages {
  /** The report of a run so far; of a target's own check if that is what it was. `base` is where this site is, without a slash at its end. */
  report(run: StoredRun, target: string | null, base: string): Page;
  /** A picture of its state, for those who link to it. */
  card(run: StoredRun): Picture;
  /** A call that failed; `asked` is the check that it should have started, or null. */
  failure(
    problem: { readonly status: number; readonly code: string; readonly message: string },
    asked: { readonly type: CheckTypeName; readonly host: string } | null,
  ): Page;
}
