import type { CheckSpec, NodeInfo, Outcome } from '#checks/index.ts';
import type { Delivery, DeliverySettlement, ListedDelivery } from './delivery.ts';
import type { Incident } from './incident.ts';
import type { RuleState } from './rule-state.ts';
import type { Severity } from './rule.ts';
import type { Silence } from './silence.ts';
import type { Story } from './story.ts';

export type { ListedDelivery } from './delivery.ts';
export type { Story, StoryTable } from './story.ts';

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
   * What there is to tell the recipients who have something due at `now`: all their unsettled deliveries, due or not, oldest first,
   * with the incidents as they are by now, so that one message can tell them all.
   */
  dueDeliveries(now: number, limit: number): readonly PendingDelivery[];
  /** The earliest time after `now` that an unsettled delivery is due, or null. */
  nextDeliveryAt(now: number): number | null;
  /** Writes down, before it is sent, which message is to tell these deliveries: after a crash it is repeated as it was. */
  claim(message: string, ids: readonly number[]): void;
  /**
   * Ends attempts, in one transaction with the reminders they ask for. Every settlement but a merge adds one to the delivery's
   * `attempts`; an `error` becomes its `lastError`.
   */
  settle(settlements: readonly DeliverySettlement[]): void;
  /** The messages that went out at `since` or later, oldest first. */
  sentMessages(since: number): readonly SentMessage[];
  /** How things went from `from` until before `to`. */
  summarise(from: number, to: number): SummaryFacts;
  /** Deliveries of a state, the newest first; of all states without one. */
  listDeliveries(options: {
    readonly state?: ListedDelivery['state'];
    readonly limit: number;
  }): readonly ListedDelivery[];
  /** Makes dead and waiting deliveries due at once, as if they had never been tried. Returns how many; without ids, all dead ones. */
  retryDeliveries(ids: readonly number[] | null): number;
  deliveryCounts(): readonly DeliveryCount[];
}

export interface PendingDelivery {
  readonly delivery: Delivery;
  readonly incident: Incident;
  /** The message that was chosen to tell it and may have arrived, or null. */
  readonly message: string | null;
  /** The message that told this recipient of the incident's beginning, or null where none did. */
  readonly root: string | null;
}

/** A message that went out, as far as it counts for what may follow it. */
export interface SentMessage {
  readonly channel: string;
  readonly recipient: string;
  readonly kind: Delivery['kind'];
  readonly severity: Severity;
  readonly at: number;
}

/** How things went in a stretch of time, in milliseconds since the epoch. */
export interface SummaryFacts {
  readonly from: number;
  readonly to: number;
  /** The answers about every target that was checked, with the times of those that were up. */
  readonly targets: readonly {
    readonly target: string;
    readonly up: number;
    readonly down: number;
    readonly unknown: number;
    readonly meanSeconds: number | null;
    readonly longestSeconds: number | null;
  }[];
  /** Those that were open for a part of it, as they are by now. */
  readonly incidents: readonly Incident[];
}

export interface DeliveryCount {
  readonly channel: string;
  readonly pending: number;
  /** When the oldest pending one was made, or null where there is none. */
  readonly oldestAt: number | null;
}

/**
 * What a message tells: that incidents began, go on or are over, that they began and are over because the first could not be told
 * in time (`late`), that nobody watches them any more (`closed`), all sorts at once (`digest`), or how things went (`summary`).
 */
export type MessageKind = Delivery['kind'] | 'late' | 'digest' | 'summary';

/** One message about incidents to one recipient, ready to be sent. */
export interface Message {
  readonly kind: MessageKind;
  readonly incidents: readonly Incident[];
  /** Unique and fixed for what it tells: a repeat has the same id. The channel adds its own domain. */
  readonly id: string;
  /** Ids of the messages that it belongs under, first the root of the thread. */
  readonly references: readonly string[];
  /** What it says, in words. */
  readonly story: Story;
  /** When the message was decided, in milliseconds since the epoch. */
  readonly at: number;
}

/** What became of a message. `retry` may help later, `rejected` never will; `isUncertain` says that it may have arrived. */
export type Receipt =
  | { readonly kind: 'delivered'; readonly response: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number; readonly isUncertain?: boolean }
  | { readonly kind: 'rejected'; readonly reason: string };

/** A way to reach people. `send` never throws for what the other side did, and ends by the signal at the latest. */
export interface Channel {
  readonly name: string;
  send(message: Message, recipient: string, signal: AbortSignal): Promise<Receipt>;
  close(): Promise<void>;
}
