import { z } from 'zod';
import type { TargetChange } from '#history/changes.ts';
import type { Measurement } from '#history/measurements.ts';
import type { LateVote, RoundRecord, ShownVerdict } from '#monitor/judge/round-record.ts';
import type { MonitorStore } from '#monitor/store.ts';
import type { DeviceWrite } from '#subscriptions/device-store.ts';
import type { SubscriptionWrite } from '#subscriptions/subscription-store.ts';
import type { PackedEvidence } from './evidence.ts';
import type { ExclusionWrite } from './exclusions.ts';
import type { StoredNote } from './notes.ts';
import type { OutcomeInput } from './rows.ts';

/** What identifies a delivery on every hub: row numbers are local. */
export interface DeliveryName {
  readonly incidentId: string;
  readonly kind: string;
  readonly number: number;
  readonly channel: string;
  readonly recipient: string;
}

type WithoutId<Outcome> = Outcome extends unknown ? Omit<Outcome, 'id'> : never;

/** The outcome of a delivery, by its name. */
export interface NamedOutcome {
  readonly of: DeliveryName;
  readonly outcome: WithoutId<OutcomeInput>;
}

/** A late vote with the verdict that its round has with it; the verdict is absent if it is not to change. */
export interface SharedLateVote extends Omit<LateVote, 'verdictOf'> {
  readonly verdict?: ShownVerdict | null;
}

/** A write that every hub of one history makes, as plain data. */
export type SharedWrite =
  | { readonly kind: 'round'; readonly round: RoundRecord }
  | { readonly kind: 'late'; readonly late: SharedLateVote }
  | { readonly kind: 'outcomes'; readonly outcomes: readonly NamedOutcome[] }
  | { readonly kind: 'retry'; readonly deliveries: readonly DeliveryName[]; readonly at: number }
  | { readonly kind: 'silence'; readonly silence: Parameters<MonitorStore['saveSilence']>[0] }
  | { readonly kind: 'note'; readonly note: StoredNote }
  | { readonly kind: 'note removed'; readonly id: string }
  | ExclusionWrite
  | DeviceWrite
  | { readonly kind: 'subscription'; readonly write: SubscriptionWrite }
  | { readonly kind: 'changes'; readonly changes: readonly TargetChange[] }
  | { readonly kind: 'measured'; readonly measured: readonly Measurement[] }
  | { readonly kind: 'evidence'; readonly evidence: PackedEvidence }
  | { readonly kind: 'fact'; readonly name: string; readonly value: string };

const kinds = [
  'round',
  'late',
  'outcomes',
  'retry',
  'silence',
  'note',
  'note removed',
  'exclusion',
  'exclusion removed',
  'subscription',
  'device',
  'device removed',
  'changes',
  'measured',
  'evidence',
  'fact',
] as const satisfies readonly SharedWrite['kind'][];

/** Writes as another hub of the same version sent them: the log admits hubs only, which verified what is in them. */
export const SharedWrites = z.array(z.custom<SharedWrite>(isShared));

// A schema costs half as much as storing the write, and a follower reads thousands.
function isShared(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && known.has(value.kind);
}

const known: ReadonlySet<unknown> = new Set(kinds);
