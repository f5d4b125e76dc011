/** What a delivery says about its incident. */
export type DeliveryKind = 'opened' | 'resolved' | 'closed';

/** One message about incidents to one recipient through one channel: a row until it is settled. */
export interface Delivery {
  readonly id: number;
  readonly incidentId: string;
  readonly kind: DeliveryKind;
  /** Counts the deliveries of one kind for one incident, from 1. */
  readonly number: number;
  readonly channel: string;
  readonly recipient: string;
  readonly createdAt: number;
  readonly nextAttemptAt: number;
  readonly attempts: number;
  readonly lastError: string | null;
}

/** How an attempt at a delivery ended. `merged` says that another message told its story. */
export type DeliverySettlement =
  | { readonly id: number; readonly state: 'sent' | 'merged'; readonly at: number }
  | { readonly id: number; readonly state: 'dead'; readonly at: number; readonly error: string }
  | { readonly id: number; readonly state: 'pending'; readonly nextAttemptAt: number; readonly error: string };
