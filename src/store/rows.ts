import { z } from 'zod';
import { Failure, FailureCode, FailureSource, type Outcome } from '#checks/index.ts';
import type { PackedResult } from '#history/pack.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { ListedDelivery, SentMessage } from '#monitor/judge/delivery.ts';
import type { HeartbeatState } from '#monitor/judge/heard.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import type { MonitorStore } from '#monitor/store.ts';
import type { deliveries, incidents, ruleStates } from './schema.ts';

export type RuleStateInput = RoundRecord['states'][number];
export type IncidentInput = RoundRecord['incidents'][number];
export type DeliveryInput = RoundRecord['deliveries'][number];
/** What is written about a delivery: the outcome of an attempt, or the message that is about to cover it. */
export type OutcomeInput = Parameters<MonitorStore['storeOutcomes']>[0][number] | ClaimRow;

interface ClaimRow {
  readonly id: number;
  readonly state: 'claimed';
  readonly message: string;
}

/** What is kept of one node's outcome. */
export interface StoredResult {
  readonly dueAt: number;
  readonly node: string;
  readonly status: Outcome['status'];
  readonly seconds: number | null;
  readonly failure: StoredFailure | null;
}

export const StoredFailure = z.object({ ...Failure.shape, address: z.string().nullable().default(null) });
export type StoredFailure = z.output<typeof StoredFailure>;

const State = z.object({
  window: z.array(z.object({ at: z.number(), failing: z.boolean() })),
  incidentId: z.string().nullable(),
  good: z.number(),
  goodSince: z.number().nullable(),
  noted: z.record(z.string(), z.string()).default({}),
}) satisfies z.ZodType<Omit<RuleStateInput, 'target' | 'rule'>>;

const HeardText = z.object({
  since: z.number(),
  at: z.number().nullable(),
  began: z.number().nullable(),
  open: z.array(z.object({ run: z.string().nullable(), at: z.number(), settled: z.boolean() })),
  missedUntil: z.number().nullable(),
  last: z.object({ dueAt: z.number(), failure: Failure.nullable() }).nullable(),
  calls: z.array(z.string()),
}) satisfies z.ZodType<HeartbeatState>;

/** The stored heartbeat state of a target. */
export const heardOf = (target: string, text: string): HeartbeatState =>
  parseStored(HeardText, text, `heartbeat of ${target}`);

const VoteLines = z.array(
  z.object({
    node: z.string(),
    place: z.string(),
    status: z.enum(['up', 'down', 'unknown']),
    seconds: z.number().nullable(),
    address: z.string().nullable(),
    source: FailureSource.nullable(),
    code: FailureCode.nullable(),
    message: z.string().nullable(),
  }),
);

type IncidentColumn = 'id' | 'target' | 'rule' | 'startedAt' | 'openedAt' | 'endedAt';

// What an incident did not say before there was a word for it.
const down = {
  word: 'DOWN',
  noun: 'Down',
  is: 'is down',
  was: 'was down',
  again: 'up again',
  began: 'went down',
  ended: 'came back',
};
const Wording = z.object({
  word: z.string(),
  noun: z.string(),
  is: z.string(),
  was: z.string(),
  again: z.string(),
  began: z.string(),
  ended: z.string(),
});

const VerdictChange = z.object({
  at: z.number(),
  status: z.enum({ up: 'up', partial: 'partial', down: 'down', unknown: 'unknown' } satisfies {
    [Status in IncidentInput['timeline'][number]['status']]: Status;
  }),
  up: z.number(),
  down: z.number(),
  unknown: z.number(),
});

const Held = z.object({
  by: z.enum({
    maintenance: 'maintenance',
    silence: 'silence',
    dependency: 'dependency',
    connectivity: 'connectivity',
    outage: 'outage',
    service: 'service',
  } satisfies { [By in NonNullable<IncidentInput['held']>['by']]: By }),
  why: z.string(),
  untilLook: z.literal(true).optional(),
  cleared: z.object({ since: z.number(), rounds: z.number() }).optional(),
  since: z.number().optional(),
});

const IncidentStory = z.object({
  severity: z.enum({ critical: 'critical', warning: 'warning', info: 'info' } satisfies {
    [Severity in IncidentInput['severity']]: Severity;
  }),
  subject: z.string(),
  labels: z.record(z.string(), z.string()).default({}),
  lateReason: z.string().nullable().default(null),
  doubt: z.object({ or: z.string(), why: z.string(), since: z.number().nullable() }).optional(),
  condition: z.string(),
  cause: z.string(),
  laterCauses: z
    .array(z.object({ number: z.number(), at: z.number(), code: FailureCode, cause: z.string() }))
    .default([]),
  votes: VoteLines,
  closingVotes: VoteLines.nullable(),
  wording: Wording.default(down),
  closing: z.enum(['recovered', 'unwatched', 'rule_removed']).nullable().default(null),
  timeline: z.array(VerdictChange).default([]),
  held: Held.nullable().default(null),
  notified: z
    .array(z.object({ channel: z.string(), recipient: z.string() }))
    .nullable()
    .default(null),
  acknowledged: z.object({ at: z.number(), why: z.string() }).nullable().default(null),
}) satisfies z.ZodType<Omit<IncidentInput, IncidentColumn>>;

// Earlier versions of the program wrote two keys under other names.
const IncidentRecord = z.preprocess(withCurrentNames, IncidentStory);

function withCurrentNames(story: unknown): unknown {
  if (typeof story !== 'object' || story === null || !('told' in story)) return story;
  const { told, ...rest } = story;
  const { toldLate, ...others }: { toldLate?: unknown } = rest;
  return { notified: told, lateReason: toldLate, ...others };
}

// Both lists are complete or do not compile: a kind that is added elsewhere has to be added here.
const Kind = z.enum({
  opened: 'opened',
  update: 'update',
  reminder: 'reminder',
  resolved: 'resolved',
  closed: 'closed',
} satisfies { [Kind in DeliveryInput['kind']]: Kind });

const DeliveryState = z.enum(['pending', 'sent', 'merged', 'dead']);

const statuses = ['up', 'down', 'unknown'] as const;

export function statusNumber(status: Outcome['status']): number {
  return statuses.indexOf(status);
}

export function statusOf(number: number): Outcome['status'] {
  return statuses[number] ?? 'unknown';
}

/** Whole microseconds: shorter in the file than a float, and as exact as the measurement. */
export function toMicroseconds(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1e6);
}

export function failureText(outcome: Outcome): string | null {
  if (outcome.status === 'up') return null;
  const { failure, address } = outcome;
  return JSON.stringify(address === null ? failure : { ...failure, address });
}

export function stateText({ target: _target, rule: _rule, ...state }: RuleStateInput): string {
  return JSON.stringify(state);
}

export function stateOf(target: string, row: Pick<typeof ruleStates.$inferSelect, 'rule' | 'state'>): RuleStateInput {
  return { target, rule: row.rule, ...parseStored(State, row.state, `the state of ${target}, rule ${row.rule}`) };
}

export function incidentRow(incident: IncidentInput, targetId: number): typeof incidents.$inferInsert {
  const { id, target: _target, rule, startedAt, openedAt, endedAt, ...story } = incident;
  return { id, targetId, rule, startedAt, openedAt, endedAt, story: JSON.stringify(story) };
}

export function incidentOf(target: string, row: typeof incidents.$inferSelect): IncidentInput {
  const { id, rule, startedAt, openedAt, endedAt, story } = row;
  return { id, target, rule, startedAt, openedAt, endedAt, ...parseStored(IncidentRecord, story, `incident ${id}`) };
}

export function deliveryOf(row: typeof deliveries.$inferSelect): DeliveryInput {
  const { state: _state, settledAt: _settledAt, message: _message, reference: _reference, kind, ...delivery } = row;
  return { ...delivery, kind: parse(Kind, kind, `delivery ${row.id}`) };
}

export function listedDeliveryOf(target: string, row: typeof deliveries.$inferSelect): ListedDelivery {
  const place = `delivery ${row.id}`;
  return { ...row, target, kind: parse(Kind, row.kind, place), state: parse(DeliveryState, row.state, place) };
}

export function sentMessageOf(row: {
  readonly channel: string;
  readonly recipient: string;
  readonly kind: string;
  readonly severity: string | undefined;
  readonly at: number | null;
}): SentMessage {
  const kind = row.kind === 'digest' ? row.kind : parse(Kind, row.kind, 'a delivery');
  return { ...row, kind, severity: parse(IncidentStory.shape.severity, row.severity, 'an incident'), at: row.at ?? 0 };
}

/** What a column of JSON says. Throws `store_corrupt` with its place. */
export function parseStored<Schema extends z.ZodType>(schema: Schema, text: string, place: string): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(place, 'not JSON', error);
  }
  return parse(schema, value, place);
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const reasons = read.error.issues.map(({ path, message }) => `${path.join('.') || 'value'}: ${message}`);
  throw unreadable(place, reasons.join('; '), read.error);
}

function unreadable(place: string, reason: string, cause: unknown): WatchpostError {
  const text = `the database holds ${place} in a form that this version cannot read (${reason}); put back a backup or correct the row`;
  return new WatchpostError('store_corrupt', text, { cause });
}

/** A result as a row has it. */
export interface ResultRow {
  readonly dueAt: number;
  readonly status: number;
  readonly durationUs: number | null;
  readonly failure: string | null;
  readonly lateAt: number | null;
}

export function packedOf({ dueAt, status, durationUs, failure, lateAt }: ResultRow): PackedResult {
  return { dueAt, status: statusOf(status), durationUs, failure, lateAt };
}
