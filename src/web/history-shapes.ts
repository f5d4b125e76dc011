import { z } from 'zod';
import { EvidenceGathering } from './evidence.ts';

// What the history routes answer, as JSON. The routes make it of the reader's values; the document and its test hold them to it.

const Moment = z.iso.datetime().describe('An ISO time in UTC.');
const Seconds = z.number();
const Ratio = z.number();
const Status = z.enum(['up', 'partial', 'down', 'unknown']);
const OutcomeStatus = z.enum(['up', 'down', 'unknown']);

const Time = z
  .strictObject({
    up: Seconds,
    partial: Seconds,
    down: Seconds,
    unknown: Seconds,
    maintenance: Seconds,
    excluded: Seconds,
    unwatched: Seconds,
  })
  .describe('How long it was so, in seconds, by verdicts.');

const figures = {
  from: Moment,
  to: Moment,
  uptime: Ratio.nullable().describe('Null if nothing is known.'),
  since: Moment.nullable().describe(
    'From when on it was watched within the span; null if it was not, and of one node.',
  ),
  time: Time.nullable().describe('Null if a node is named: a single node gives no verdict.'),
  answers: z.strictObject({ up: z.int(), down: z.int(), unknown: z.int(), late: z.int() }),
  latency: z
    .strictObject({
      count: z.int(),
      min: Seconds,
      mean: Seconds,
      p50: Seconds,
      p95: Seconds,
      p99: Seconds,
      max: Seconds,
    })
    .nullable()
    .describe('Of the answers that were up; null if there was none.'),
};
export const Figures = z.strictObject(figures).describe('How a span went.');

const objective = {
  ratio: Ratio,
  over_seconds: Seconds.describe(
    'The length of the period; of an objective over the calendar month, of the longest one.',
  ),
  month_in: z
    .string()
    .optional()
    .describe('The time zone whose calendar months are the periods; absent if the period is the last over_seconds.'),
};
const Budget = z
  .strictObject({
    ...objective,
    over_seconds: Seconds.describe('The length of the period.'),
    allowed_seconds: Seconds,
    spent_seconds: Seconds,
    left: Ratio.describe('Negative if overspent.'),
    uptime: Ratio.nullable(),
  })
  .describe("What is left of the objective's budget.");
export const TargetFigures = z.strictObject({ ...figures, target: z.string(), budget: Budget.nullable() });
const NodeFigures = z.strictObject({ ...figures, node: z.string() });

export const Incident = z
  .strictObject({
    id: z.string(),
    target: z.string(),
    rule: z.string(),
    severity: z.enum(['critical', 'warning', 'info']),
    word: z.string().describe('How it is called: `DOWN`, `SLOW`.'),
    subject: z.string(),
    condition: z.string(),
    cause: z.string(),
    started_at: Moment,
    opened_at: Moment,
    ended_at: Moment.nullable().describe('Null while it is open.'),
    closing: z.enum(['recovered', 'unwatched', 'rule_removed']).nullable(),
    held: z.string().nullable().describe('Why its notification was suppressed.'),
    acknowledged: z.strictObject({ at: Moment, why: z.string() }).nullable(),
  })
  .describe('An incident as a list shows it.');

const Vote = z.strictObject({
  node: z.string(),
  place: z.string(),
  status: OutcomeStatus,
  seconds: Seconds.nullable(),
  address: z.string().nullable(),
  source: z.string().nullable().describe('Whose fault it was.'),
  code: z.string().nullable(),
  message: z.string().nullable(),
});
const Delivery = z.strictObject({
  id: z.int(),
  kind: z.enum(['opened', 'update', 'reminder', 'resolved', 'closed']),
  number: z.int(),
  channel: z.string(),
  recipient: z.string(),
  state: z.enum(['pending', 'sent', 'merged', 'dead']),
  created_at: Moment,
  settled_at: Moment.nullable(),
  attempts: z.int(),
  last_error: z.string().nullable(),
});
export const IncidentDetail = Incident.extend({
  votes: z.array(Vote),
  closing_votes: z.array(Vote).nullable(),
  later_causes: z.array(z.strictObject({ at: Moment, cause: z.string() })).describe('Later causes, if they differ.'),
  timeline: z.array(z.strictObject({ at: Moment, status: Status, up: z.int(), down: z.int(), unknown: z.int() })),
  evidence: z.array(EvidenceGathering).describe('What nodes gathered, the oldest first.'),
  exclusions: z
    .array(
      z.strictObject({
        id: z.string(),
        target: z.string().nullable().describe('Null for all targets.'),
        from: Moment,
        to: Moment,
        why: z.string(),
        created_at: Moment,
      }),
    )
    .describe('Exclusions from uptime that touch its time.'),
  deliveries: z.array(Delivery),
}).describe('An incident with its votes, its timeline and its deliveries.');

const Round = z.strictObject({
  due_at: Moment,
  status: Status.nullable(),
  votes: z.array(
    z.strictObject({
      node: z.string(),
      status: OutcomeStatus,
      seconds: Seconds.nullable(),
      failure: z
        .strictObject({ source: z.string(), code: z.string(), message: z.string(), address: z.string().nullable() })
        .nullable(),
      late_at: Moment.nullable(),
    }),
  ),
});
export const Target = z
  .strictObject({
    name: z.string(),
    check: z.string(),
    host: z.string(),
    labels: z.record(z.string(), z.string()),
    objective: z.strictObject(objective).nullable(),
    status: Status,
    in_maintenance: z.boolean(),
    since: Moment.nullable(),
    round: Round.nullable().describe('The last one that had results.'),
    incidents: z.array(Incident),
  })
  .describe('A target as it is now.');
export const TargetDetail = Target.extend({
  figures: TargetFigures,
  nodes: z.array(NodeFigures),
  rounds: z.array(Round),
}).describe('A target with its figures and its last rounds.');

export const StateEvent = z
  .strictObject({
    target: z.string(),
    status: z.enum(['up', 'partial', 'down', 'unknown', 'maintenance']),
    since: Moment.nullable(),
    due_at: Moment.nullable().describe('When the last round was due.'),
    votes: z.record(z.string(), OutcomeStatus).describe('By the names of the nodes.'),
  })
  .describe('A target after a round: the data of an event `state`.');
export const IncidentEvent = z
  .strictObject({
    id: z.string(),
    target: z.string(),
    rule: z.string(),
    severity: z.enum(['critical', 'warning', 'info']),
    cause: z.string(),
    started_at: Moment,
    ended_at: Moment.nullable().describe('Null while it is open.'),
    held: z.string().nullable().describe('Why its notification is suppressed.'),
    acknowledged: z.string().nullable(),
  })
  .describe('An incident that was opened, changed or closed: the data of an event `incident`.');

export const BeatEvent = z
  .strictObject({
    every_seconds: Seconds.describe('How often it comes: two that are missing mean that the stream is dead.'),
    start: z.int().describe('Another number if the program was started again, or has loaded its configuration anew.'),
  })
  .describe('The stream is alive: the data of an event `beat`.');

export const Series = z
  .strictObject({ from: Moment, to: Moment, step_seconds: Seconds, parts: z.array(Figures) })
  .describe('Figures in steps, those without any result too.');
