import type { CheckSpec, NodeInfo, NodeSelection } from '#checks/index.ts';
import type { Schedule } from '#schedule/schedule.ts';
import type { Vote } from '../judge/vote.ts';

export interface RunRequest {
  readonly spec: CheckSpec;
  readonly nodes: NodeSelection;
  /** The round that this run is for. */
  readonly round?: { readonly target: string; readonly dueAt: number } | undefined;
}

export interface RunResult {
  /** One vote for each selected node, always: a node that did not answer has an unknown outcome. */
  readonly votes: readonly Vote[];
  /** The page that shows this run, if there is one. */
  readonly reportUrl: string | null;
}

/** A target to be checked whenever it is due. */
export interface WatchedTarget {
  readonly name: string;
  readonly spec: CheckSpec;
  readonly schedule: Schedule;
  readonly nodes: NodeSelection;
}

/** What the nodes saw in a round. Times are wall time. */
export interface ObservedVotes {
  readonly dueAt: number;
  /** When the first of its checks began. */
  readonly startedAt: number;
  readonly votes: readonly Vote[];
  /** Set if it was over long ago: why it is late, and when it may be notified. */
  readonly late?: { readonly why: string; readonly notifyFrom: number } | undefined;
  /** True if the round had ended without a verdict before: these votes complete it. */
  readonly isRevision?: true | undefined;
  /** True for a round besides the schedule. */
  readonly isExtra?: true | undefined;
}

/** Receives the rounds of a target, in the order in which they were due. */
export interface RoundListener {
  /** Whether these votes are enough for a verdict. */
  hasVerdict(votes: readonly Vote[]): boolean;
  /** Resolves once all its consequences are handled. */
  round(round: ObservedVotes): Promise<void> | void;
  /** So many rounds were due and began nowhere. */
  skipped(count: number): void;
}

/** The watch over a target that is checked by its schedule. */
export interface WatchHandle {
  /** Whether a round was due and has not arrived yet. */
  readonly underWay: boolean;
  /** Nothing begins any more; rounds that have begun go on. */
  stop(): void;
  /** Nothing is heard any more. */
  cut(): void;
  /** Resolves when nothing more will be heard. */
  readonly ended: Promise<void>;
}

/** Has checks run on nodes: the service in this process, or another one over HTTP. The monitor cannot tell which. */
export interface Runner extends CheckServiceClient {
  /** Has a target checked whenever it is due, from now on. One of each name at a time. */
  watch(target: WatchedTarget, listener: RoundListener): WatchHandle;
  /** To be called before everything is stopped because the program ends: nodes that can go on without it do. */
  leave?(): void;
  /** For how many milliseconds the oldest result that came has waited to be read. */
  waitedMs(): number;
}

/** Runs checks when it is asked. */
export interface CheckServiceClient {
  /** Where the checks run, if that is another service: its URL. */
  readonly url?: string;
  /** The nodes there are now, whether they answer or not. */
  nodes(): readonly NodeInfo[];
  /** A look at once. Rejects with `no_nodes` if the selection is empty, or with the signal's reason. */
  run(request: RunRequest, signal: AbortSignal): Promise<RunResult>;
}
