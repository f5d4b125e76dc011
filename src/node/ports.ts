import type { RunListener } from '#protocol/run-listener.ts';
import type { AssignedTarget, Observation, PassedChecks } from '#protocol/watching.ts';
import type { Capability, CheckSpec, CheckTypeName, Outcome, Policy } from '#checks/index.ts';

/** One check for one node. */
export interface NodeCheckCommand {
  readonly spec: CheckSpec;
  /** What the sender of the command may reach; the node's own policy can only narrow it. */
  readonly policy: Policy;
  /** When the node gives up on the probe, in milliseconds from its arrival. */
  readonly deadlineMs: number;
  /** For whom it is, by default the monitor. */
  readonly origin?: 'monitor' | 'api' | undefined;
  /** The outcome is not urgent: it may come a tenth of a second later if that saves a wake-up. */
  readonly isPatient?: boolean | undefined;
  /** Whether to pass on what has been measured so far, if the type does that. */
  readonly wantsInterim?: boolean | undefined;
}

/** How much of what a node can take is for checks of the API at the most: the rest is the monitor's. */
export const shareOfApi = 0.5;

/** What a node is set up with. Plain data, so that it can travel to a thread. */
export interface AgentOptions {
  /** Source addresses to probe from, per family. */
  readonly localAddress: { readonly 4?: string; readonly 6?: string };
  /** The widest policy of this node. */
  readonly policy: Policy;
  /** Address ranges (CIDR) that are open, or closed, whatever else holds. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Public addresses that others reach this node at, besides those of its interfaces. */
  readonly knownAs: readonly string[];
  /** The file of AS names for hops of paths. */
  readonly asnFile?: string | undefined;
  /** The unix socket of the container engine that it may ask. */
  readonly dockerSocket?: string | undefined;
  /** The unix socket of the message bus over which it may ask systemd. */
  readonly systemdSocket?: string | undefined;
  /** The programs that it may run as plugins, each with its arguments, by name. */
  readonly plugins?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Probes at the same time, and commands that may wait for a place. */
  readonly running: number;
  readonly queued: number;
  /** Check types to load before it says that it is ready: loading one later holds up what runs. Default: none. */
  readonly types?: readonly CheckTypeName[] | undefined;
  /** Shared with the hub: which checks of watched targets run, so that it is known when the thread is lost. */
  readonly busy?: SharedArrayBuffer;
  /** What the main thread shares so that this one guards the stop of the process, as in `StopGuard`. */
  readonly guard?: SharedArrayBuffer | undefined;
}

export type Capabilities = Readonly<Partial<Record<CheckTypeName, Capability>>>;

export interface AgentHealth {
  readonly running: number;
  readonly queued: number;
  /** How late the node's event loop was at the worst since the last report, in seconds. */
  readonly lagSeconds: number;
}

/** How a thread is that watches by itself, with how many due times went by since it started because it was held up. */
export interface ThreadHealth extends AgentHealth {
  readonly skipped: number;
}

/** A started node: runs commands, knows what it can do and how it feels. */
export interface Agent {
  readonly capabilities: Capabilities;
  health(): AgentHealth;
  /** Whether a check runs whose times this thread takes: it must not be held up then. The kernel's do not suffer. */
  readonly isTiming: boolean;
  /** Loads what checks of these types need, so that the first one need not wait. Never rejects: a check meets the same error. */
  prepare(types: readonly CheckTypeName[]): Promise<void>;
  /** Always an outcome, within the command's deadline. Rejects only with the signal's reason, when the check is cancelled. */
  run(command: NodeCheckCommand, signal: AbortSignal, listener?: RunListener): Promise<Outcome>;
  close(): Promise<void>;
}

/** A target as the thread of a node watches it. */
export interface LocalTarget extends AssignedTarget {
  /** Where the thread notes that a check of it runs: in the byte of this number of what it shares with the hub. */
  readonly place: number;
  /** Why it is not checked for now, or null. */
  readonly refusal: string | null;
}

/** What the hub says to a node in a thread. */
export type HubMessage =
  | { readonly kind: 'watch'; readonly number: number; readonly targets: readonly LocalTarget[] }
  | { readonly kind: 'clock'; readonly aheadMs: number }
  | { readonly kind: 'run'; readonly id: number; readonly command: NodeCheckCommand }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'close' };

/** What a node in a thread says to the hub. */
export type NodeMessage =
  | { readonly kind: 'ready'; readonly capabilities: Capabilities; readonly isGuarding?: boolean }
  | { readonly kind: 'watching'; readonly number: number; readonly since: number }
  | {
      readonly kind: 'seen';
      readonly observations: readonly Observation[];
      readonly isNews: boolean;
      /** The checks that were passed over since the message before, or null. */
      readonly passed: PassedChecks | null;
    }
  | { readonly kind: 'interim'; readonly id: number; readonly detail: unknown }
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: Outcome; readonly startedAt: number | null }
  | { readonly kind: 'health'; readonly health: ThreadHealth }
  /** Something does not work, for the log. */
  | { readonly kind: 'problem'; readonly problem: string };

/** Results that the hub has not confirmed, on disk: they outlive the process. Bounded in age and number. */
export interface Spool {
  readonly size: number;
  /** Results given up since the start, for their age or number. */
  readonly dropped: number;
  /** When the newest of them was put here, in milliseconds since the epoch; null if none was given up. */
  readonly newestDroppedAt: number | null;
  /** Keeps a result before it is sent. The oldest one goes where there is no room. */
  put(id: string, payload: string): void;
  payload(id: string): string | null;
  /** Forgets a result that the hub keeps now. */
  remove(id: string): void;
  /** The ids of the newest results, newest first. */
  newest(limit: number): readonly string[];
  /** The last stored assignment of the node; null if there is none. */
  assignment(): string | null;
  keepAssignment(payload: string): void;
  close(): void;
}
