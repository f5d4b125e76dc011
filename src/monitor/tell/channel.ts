import type { MessageKind } from '../judge/delivery.ts';
import type { Incident } from '../judge/incident.ts';
import type { MessageContent } from './content.ts';

/** One message about incidents to one recipient, ready to be sent. */
export interface Message {
  readonly kind: MessageKind;
  readonly incidents: readonly Incident[];
  /** Unique and fixed for what it tells: a repeat has the same id. The channel adds its own domain. */
  readonly id: string;
  /** Ids of the messages that it belongs under, first the root of the thread. */
  readonly references: readonly string[];
  /** What the other side called the messages that told of the beginnings, by the id of the incident, where it called them anything. */
  readonly beginnings: ReadonlyMap<string, string>;
  /** What it says, in words. */
  readonly content: MessageContent;
  /** When the message was decided, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * What became of a message. `retry` may help later, `rejected` never will; `isUncertain` says that it may have arrived. A
 * `reference` is what the other side calls the message: it is kept, and later messages about its incidents are given it.
 */
export type Receipt =
  | { readonly kind: 'delivered'; readonly response: string; readonly reference?: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number; readonly isUncertain?: boolean }
  | { readonly kind: 'rejected'; readonly reason: string };

/** A way to reach people. `send` never throws for what the other side did, and ends by the signal at the latest. */
export interface Channel {
  readonly name: string;
  send(message: Message, recipient: string, signal: AbortSignal): Promise<Receipt>;
  /**
   * Says again what goes on, for another side that takes what it does not hear of for over: called each minute while something is
   * open. `open` gives what was told and is open by then.
   */
  readonly renew?: (open: () => readonly Incident[], recipient: string, signal: AbortSignal) => Promise<Receipt>;
  close(): Promise<void>;
}
