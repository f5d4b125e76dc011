import type { CheckSpec, NodeInfo, Outcome } from '#checks/index.ts';
import type { Delivery, DeliverySettlement } from './delivery.ts';
import type { Incident } from './incident.ts';
import type { RuleState } from './rule-state.ts';
import type { Silence } from './silence.ts';

export type { Incident } from './incident.ts';
export type { Silence } from './silence.ts';

/** Which nodes a run asks for. */
export type NodeSelection =
  | { readonly kind: 'all' }
  | { readonly kind: 'count'; readonly count: number; readonly avoid: readonly string[] }
  | { readonly kind: 'named'; readonly names: readonly string[] };

export interface RunRequest {
  readonly spec: CheckSpec;
  readonly nodes: NodeSelection;
  /** The round that this run is for. */
  readonly round?: { readonly target: string; readonly dueAt: number } | undefined;
}

/** What one node answered in a run. */
export interface Vote {
  readonly node: NodeInfo;
  readonly outcome: Outcome;
}

export interface RunResult {
  /** One vote for each selected node, always: a node that did not answer has an unknown outcome. */
  readonly votes: readonly Vote[];
  /** The page that shows this run, where there is one. */
  readonly reportUrl: string | null;
}

/** Runs checks on nodes: the service in this process, or another one over HTTP. The monitor cannot tell which. */
export interface Runner {
  /** The nodes there are now, whether they answer or not. */
  nodes(): readonly NodeInfo[];
  /** Rejects with `no_nodes` where the selection is empty, or with the signal's reason. */
  run(request: RunRequest, signal: AbortSignal): Promise<RunResult>;
}

/** Everything a round leaves behind, or a change without one; it is stored whole or not at all. */
export interface RoundRecord {
  readonly target: string;
  /** Wall time the round was due at: with the target, its name. */
  readonly dueAt: number;
  readonly votes: readonly Vote[];
  /** The rule states that this round changed. */
  readonly states: readonly RuleState[];
  /** Incidents that this round opened, changed or closed, as they are after it. */
  readonly incidents: readonly Incident[];
  /** New deliveries, whose ids are of no account. */
  readonly deliveries: readonly Delivery[];
}

/** A vote that came when its round was over. */
export interface LateVote {
  readonly target: string;
  readonly dueAt: number;
  readonly vote: Vote;
  /** When it came. */
  readonly at: number;
}

/** What is kept about a configured target when the program starts. */
export interface StoredTarget {
  readonly target: string;
  readonly states: readonly RuleState[];
  readonly openIncidents: readonly Incident[];
}

/** A result with a time. */
export interface StoredSuccess {
  readonly target: string;
  readonly node: string;
  readonly dueAt: number;
  readonly seconds: number;
}

/** The monitor's memory. Every method that writes is one transaction. */
export interface MonitorStore {
  load(): readonly StoredTarget[];
  /** The good results of these targets that were due at `since` or later, oldest first. */
  recentSuccesses(since: number, targets: ReadonlySet<string>): Iterable<StoredSuccess>;
  /** The silences that end after `now`. */
  silences(now: number): readonly Silence[];
  /** Stores a silence, in place of the one of its id. */
  saveSilence(silence: Silence): void;
  /**
   * Stores a round, resolved once it is committed: `duplicate` where (target, due time) was stored before, and then nothing
   * is written; a record without votes is never one. Rounds that change no state may wait up to a second to be committed together.
   */
  record(round: RoundRecord): Promise<'stored' | 'duplicate'>;
  /**
   * Deliveries to try at `now`, oldest first, with their incidents as they are by now: every unsettled one that is due, and with it
   * all other unsettled ones of the same incident, channel and recipient, due or not, so that one message can tell them all.
   */
  dueDeliveries(now: number, limit: number): readonly PendingDelivery[];
  /** The earliest time that an unsettled delivery is due, or null. */
  nextDeliveryAt(): number | null;
  /** Ends an attempt. Every settlement adds one to the delivery's `attempts`; an `error` becomes its `lastError`. */
  settle(settlements: readonly DeliverySettlement[]): void;
  deliveryCounts(): readonly DeliveryCount[];
}

export interface PendingDelivery {
  readonly delivery: Delivery;
  readonly incident: Incident;
}

export interface DeliveryCount {
  readonly channel: string;
  readonly pending: number;
  /** When the oldest pending one was made, or null where there is none. */
  readonly oldestAt: number | null;
}

/** What a message tells: that it began, that it is over or nobody watches it any more, or both at once because the first could not be told in time. */
export type MessageKind = 'opened' | 'resolved' | 'closed' | 'late';

/** One message about incidents to one recipient, ready to be sent. */
export interface Message {
  readonly kind: MessageKind;
  readonly incidents: readonly Incident[];
  /** Unique and fixed for what it tells: a repeat has the same id. The channel adds its own domain. */
  readonly id: string;
  /** Ids of the messages that it belongs under, first the root of the thread. */
  readonly references: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** When the message was decided, in milliseconds since the epoch. */
  readonly at: number;
}

/** What became of a message. `retry` may help later, `rejected` never will. */
export type Receipt =
  | { readonly kind: 'delivered'; readonly response: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly kind: 'rejected'; readonly reason: string };

/** A way to reach people. `send` never throws for what the other side did, and ends by the signal at the latest. */
export interface Channel {
  readonly name: string;
  send(message: Message, recipient: string, signal: AbortSignal): Promise<Receipt>;
  close(): Promise<void>;
}
