/** A mail address that wants news of a status page. Times are milliseconds since the epoch. */
export interface Subscriber {
  readonly id: string;
  readonly page: string;
  readonly address: string;
  /** The code of a language. */
  readonly language: string;
  /** The key of the links in its mails. */
  readonly secret: string;
  /** When it was last asked to confirm. */
  readonly askedAt: number;
  /** Null until its owner has confirmed it. */
  readonly confirmedAt: number | null;
}

/** How far those who handle an incident are. */
type IncidentStage = 'investigating' | 'identified' | 'monitoring' | 'resolved';

/** What a mail says, without a language. */
export type SubscriptionNews =
  | { readonly kind: 'confirm' }
  | { readonly kind: 'began'; readonly service: string; readonly from: number; readonly to: null }
  | {
      readonly kind: 'ended';
      readonly service: string;
      readonly from: number;
      readonly to: number | null;
      /** Set if its check was changed while it was down, so that nothing says that it works again. */
      readonly isClosed?: true;
    }
  | { readonly kind: 'note'; readonly words: string; readonly stage?: IncidentStage | null; readonly at: number };

/** An event of a page whose mails were written. */
export interface AnnouncedEvent {
  readonly page: string;
  /** Names the event: of an incident its id with `began` or `ended`, of a note its id. */
  readonly name: string;
  readonly at: number;
}

/** A mail to a subscriber: a row until it is settled. */
export interface SubscriptionMail {
  /** Fixed for what it says: a repeat has the same id. */
  readonly id: string;
  readonly subscriber: string;
  readonly news: readonly SubscriptionNews[];
  readonly createdAt: number;
  readonly nextAttemptAt: number;
  readonly attempts: number;
}

/** What is written about subscriptions, as plain data. */
export type SubscriptionWrite =
  | { readonly kind: 'subscriber'; readonly subscriber: Subscriber }
  | { readonly kind: 'subscribers removed'; readonly ids: readonly string[] }
  | { readonly kind: 'mails'; readonly events: readonly AnnouncedEvent[]; readonly mails: readonly SubscriptionMail[] }
  | { readonly kind: 'mail retried'; readonly id: string; readonly nextAttemptAt: number; readonly attempts: number }
  | { readonly kind: 'mail settled'; readonly id: string }
  | { readonly kind: 'events forgotten'; readonly before: number };

/** Where subscriptions are kept. A mail that was settled is removed, and so are those of a subscriber that was. */
export interface SubscriptionStore {
  /** Those of a page, or all, the oldest first. */
  subscribers(page?: string): readonly Subscriber[];
  subscriber(id: string): Subscriber | null;
  /** The events of a page whose mails were written, the oldest first. */
  announcedEvents(page: string): readonly AnnouncedEvent[];
  /** Mails that are due, the oldest first. */
  dueMails(now: number, limit: number): readonly SubscriptionMail[];
  /** Each is one transaction; what is there already stays. */
  writeSubscription(write: SubscriptionWrite): void;
}
