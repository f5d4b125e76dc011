import { noteStages } from './state/notes.ts';
import { z } from 'zod';
import { EvidenceGathering } from './evidence.ts';

const Moment = z.iso.datetime().describe('An ISO time in UTC.');
const Kind = z.enum(['opened', 'update', 'reminder', 'resolved', 'closed']);
const DeliveryState = z.enum(['pending', 'sent', 'merged', 'dead']);
const Recipient = z.strictObject({ channel: z.string(), recipient: z.string() });

/** What the routes of operators answer, as JSON. The test of their document holds them to it. */
export const operatorShapes = {
  EvidenceGathering,
  Silence: z.strictObject({
    id: z.string(),
    targets: z.union([z.literal('all'), z.array(z.string())]),
    why: z.string(),
    from: Moment,
    until: Moment,
  }),
  OpenIncident: z.strictObject({
    id: z.string(),
    target: z.string(),
    rule: z.string(),
    severity: z.string(),
    cause: z.string(),
    started_at: Moment,
    held: z.string().nullable().describe('Why its notification is suppressed.'),
    acknowledged: z.string().nullable(),
    deliveries: z
      .array(
        Recipient.extend({
          kind: Kind,
          state: DeliveryState,
          at: Moment.nullable(),
          last_error: z.string().nullable(),
        }),
      )
      .optional(),
    told: z.array(Recipient).optional(),
  }),
  Delivery: Recipient.extend({
    id: z.int(),
    state: DeliveryState,
    kind: Kind,
    number: z.int(),
    target: z.string(),
    attempts: z.int(),
    message: z.string().nullable(),
    incident: z.string(),
    last_error: z.string().nullable(),
    created_at: Moment,
    next_attempt_at: Moment.nullable(),
    settled_at: Moment.nullable(),
  }),
  Exclusion: z.strictObject({
    id: z.string(),
    target: z.string().nullable().describe('Null for all targets.'),
    from: Moment,
    to: Moment,
    why: z.string(),
    created_at: Moment,
  }),
  Note: z.strictObject({
    id: z.string(),
    page: z.string(),
    thread: z.string().nullable(),
    stage: z.enum(noteStages).nullable(),
    targets: z.array(z.string()),
    words: z.string(),
    at: Moment,
    until: Moment.nullable(),
  }),
  Subscriber: z.strictObject({
    id: z.string(),
    page: z.string(),
    address: z.string(),
    language: z.string(),
    asked_at: Moment,
    confirmed_at: Moment.nullable(),
  }),
  State: z.strictObject({
    target: z.string(),
    check: z.string(),
    host: z.string(),
    status: z.string(),
    since: Moment.nullable(),
    seconds: z.number().nullable(),
    up: z.int(),
    nodes: z.int(),
    cause: z.string().nullable(),
  }),
  Part: z.strictObject({ ok: z.boolean(), age_seconds: z.number().nullable(), limit_seconds: z.number() }),
};
