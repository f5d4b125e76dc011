import { blob, index, integer, primaryKey, real, sql, sqliteTable, sqliteView, text, uniqueIndex } from './drizzle.ts';

// Times are whole milliseconds since the epoch. `docs/storage.md` describes the tables for operators.

export const targets = sqliteTable('targets', {
  id: integer('id').primaryKey(),
  name: text('name').notNull().unique(),
  /** A digest of the spec by which it was checked last; null if that is not known. */
  spec: text('spec'),
});

export const nodes = sqliteTable('nodes', {
  id: integer('id').primaryKey(),
  name: text('name').notNull().unique(),
});

/** What the file knows about itself: `identity` tells this installation from others. */
export const facts = sqliteTable('facts', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
});

/** One row for each vote. The key starts with the time, so that new rows append and old ones are cut off in one piece. */
export const results = sqliteTable(
  'results',
  {
    dueAt: integer('due_at').notNull(),
    targetId: integer('target_id')
      .notNull()
      .references(() => targets.id),
    nodeId: integer('node_id')
      .notNull()
      .references(() => nodes.id),
    /** 0 is up, 1 down, 2 unknown. */
    status: integer('status').notNull(),
    /** Whole microseconds. */
    durationUs: integer('duration_us'),
    /** JSON: source, code, message, address. Null if the status is up. */
    failure: text('failure'),
    /** When it came, if that was after its round. */
    lateAt: integer('late_at'),
  },
  (table) => [primaryKey({ columns: [table.dueAt, table.targetId, table.nodeId] })],
);

export const ruleStates = sqliteTable(
  'rule_states',
  {
    targetId: integer('target_id')
      .notNull()
      .references(() => targets.id),
    rule: text('rule').notNull(),
    /** JSON. */
    state: text('state').notNull(),
  },
  (table) => [primaryKey({ columns: [table.targetId, table.rule] })],
);

/** The heartbeat state of targets that ping. */
export const heartbeats = sqliteTable('heartbeats', {
  targetId: integer('target_id')
    .primaryKey()
    .references(() => targets.id),
  /** JSON. */
  heard: text('heard').notNull(),
});

export const incidents = sqliteTable(
  'incidents',
  {
    id: text('id').primaryKey(),
    targetId: integer('target_id')
      .notNull()
      .references(() => targets.id),
    rule: text('rule').notNull(),
    startedAt: integer('started_at').notNull(),
    openedAt: integer('opened_at').notNull(),
    endedAt: integer('ended_at'),
    /** JSON: severity, words, subject, condition, cause, the vote tables, the timeline, notifications and suppression. */
    story: text('story').notNull(),
  },
  (table) => [
    index('incidents_of_target').on(table.targetId, table.startedAt),
    index('incidents_by_time').on(table.startedAt),
    index('incidents_open')
      .on(table.targetId)
      .where(sql`ended_at IS NULL`),
  ],
);

export const deliveries = sqliteTable(
  'deliveries',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    incidentId: text('incident_id')
      .notNull()
      .references(() => incidents.id),
    kind: text('kind').notNull(),
    number: integer('number').notNull(),
    channel: text('channel').notNull(),
    recipient: text('recipient').notNull(),
    /** pending, sent, merged or dead. */
    state: text('state').notNull(),
    createdAt: integer('created_at').notNull(),
    nextAttemptAt: integer('next_attempt_at').notNull(),
    attempts: integer('attempts').notNull(),
    lastError: text('last_error'),
    settledAt: integer('settled_at'),
    /** The id of the message that contained it or, while it is pending, may have. */
    message: text('message'),
    /** What the other side calls that message. */
    reference: text('reference'),
  },
  (table) => [
    uniqueIndex('deliveries_once').on(table.incidentId, table.kind, table.number, table.channel, table.recipient),
    index('deliveries_pending')
      .on(table.nextAttemptAt)
      .where(sql`state = 'pending'`),
    index('deliveries_settled')
      .on(table.settledAt)
      .where(sql`state = 'sent'`),
  ],
);

/** What nodes gathered about an incident. A row without a node is a note on why nothing was gathered. */
export const evidence = sqliteTable(
  'evidence',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    incidentId: text('incident_id')
      .notNull()
      .references(() => incidents.id),
    gatheredAt: integer('gathered_at').notNull(),
    /** opened, cause_changed, ended or demand. */
    occasion: text('occasion').notNull(),
    node: text('node').notNull(),
    /** JSON, compressed as in RFC 1951. */
    content: blob('content', { mode: 'buffer' }).notNull(),
  },
  (table) => [uniqueIndex('evidence_once').on(table.incidentId, table.gatheredAt, table.node)],
);

/** What a node last gathered about a target that it saw up. */
export const goodEvidence = sqliteTable(
  'good_evidence',
  {
    target: text('target').notNull(),
    node: text('node').notNull(),
    gatheredAt: integer('gathered_at').notNull(),
    /** JSON, compressed as in RFC 1951. */
    content: blob('content', { mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.target, table.node] })],
);

/** Silences: notifications of some targets are suppressed, at an operator's request. */
export const silences = sqliteTable('silences', {
  id: text('id').primaryKey(),
  /** JSON: names of targets, or "all". */
  targets: text('targets').notNull(),
  why: text('why').notNull(),
  startsAt: integer('starts_at').notNull(),
  endsAt: integer('ends_at').notNull(),
});

/** What changed about a target besides its state. The newest of a kind at a node are kept. */
export const changes = sqliteTable(
  'changes',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    target: text('target').notNull(),
    /** reload, certificate or answers. */
    kind: text('kind').notNull(),
    /** The name of the node that saw it; empty if none did. */
    node: text('node').notNull(),
    at: integer('at').notNull(),
    /** What it is from then on: for a certificate JSON, otherwise text. */
    value: text('value').notNull(),
  },
  (table) => [index('changes_of_target').on(table.target, table.kind, table.node, table.id)],
);

/** What people say on status pages. */
export const notes = sqliteTable('notes', {
  id: text('id').primaryKey(),
  page: text('page').notNull(),
  words: text('words').notNull(),
  createdAt: integer('created_at').notNull(),
  /** When it is removed automatically; null if an operator removes it. */
  endsAt: integer('ends_at'),
  /** The first note of its thread; null if it is the first itself. */
  thread: text('thread'),
  /** investigating, identified, monitoring or resolved; null if it says nothing about an incident. */
  stage: text('stage'),
  /** JSON: the targets that it is about. */
  targets: text('targets').notNull().default('[]'),
});

/** Stretches of time that count neither for nor against uptime, at an operator's request. */
export const exclusions = sqliteTable('exclusions', {
  id: text('id').primaryKey(),
  /** The name of the target; null for all. */
  target: text('target'),
  why: text('why').notNull(),
  fromAt: integer('from_at').notNull(),
  toAt: integer('to_at').notNull(),
  createdAt: integer('created_at').notNull(),
});

/** Mail addresses that want news of a status page. */
export const subscribers = sqliteTable(
  'subscribers',
  {
    id: text('id').primaryKey(),
    page: text('page').notNull(),
    address: text('address').notNull(),
    /** The code of a language. */
    language: text('language').notNull(),
    /** The key of the links in its mails. */
    secret: text('secret').notNull(),
    askedAt: integer('asked_at').notNull(),
    /** Null until its owner has confirmed it. */
    confirmedAt: integer('confirmed_at'),
  },
  (table) => [uniqueIndex('subscribers_once').on(table.page, table.address)],
);

/** Events of status pages whose mails were written. */
export const subscriptionEvents = sqliteTable(
  'subscription_events',
  { page: text('page').notNull(), name: text('name').notNull(), at: integer('at').notNull() },
  (table) => [primaryKey({ columns: [table.page, table.name] })],
);

/** Mails to subscribers that were not sent yet. */
export const subscriptionMails = sqliteTable(
  'subscription_mails',
  {
    id: text('id').primaryKey(),
    subscriber: text('subscriber')
      .notNull()
      .references(() => subscribers.id),
    /** JSON: what it says, without a language. */
    news: text('news').notNull(),
    createdAt: integer('created_at').notNull(),
    nextAttemptAt: integer('next_attempt_at').notNull(),
    attempts: integer('attempts').notNull(),
  },
  (table) => [index('subscription_mails_due').on(table.nextAttemptAt)],
);

/** Browsers that show notifications (Push API). */
export const devices = sqliteTable('devices', {
  id: text('id').primaryKey(),
  /** The name under `notify`. */
  recipient: text('recipient').notNull(),
  name: text('name').notNull(),
  /** Who added it; null if there are no users. */
  user: text('user'),
  /** The origin of the page that it was added on. */
  origin: text('origin').notNull(),
  /** The address of its push service, its public key and its secret. */
  endpoint: text('endpoint').notNull(),
  p256dh: text('p256dh').notNull(),
  auth: text('auth').notNull(),
  createdAt: integer('created_at').notNull(),
});

/** Checks that were started over the API, oldest first by `key`. */
export const runs = sqliteTable('runs', {
  key: integer('key').primaryKey(),
  id: text('id').notNull().unique(),
  createdAt: integer('created_at').notNull(),
  /** JSON: the spec. */
  spec: text('spec').notNull(),
  /** JSON: the nodes, each with its place. */
  nodes: text('nodes').notNull(),
});

/** One row for each node that has answered; `position` counts the nodes of the run from 0. */
export const runResults = sqliteTable(
  'run_results',
  {
    runKey: integer('run_key')
      .notNull()
      .references(() => runs.key, { onDelete: 'cascade' }),
    position: integer('position').notNull(),
    /** JSON: the whole outcome. */
    outcome: text('outcome').notNull(),
  },
  (table) => [primaryKey({ columns: [table.runKey, table.position] })],
);

/** The results that are not sealed yet as people read them: `sqlite3 watchpost.db "SELECT * FROM history"`. */
export const history = sqliteView('history', {
  at: text('at').notNull(),
  dueAt: integer('due_at').notNull(),
  target: text('target').notNull(),
  node: text('node').notNull(),
  status: text('status').notNull(),
  seconds: real('seconds'),
  code: text('code'),
  message: text('message'),
  address: text('address'),
  lateAt: text('late_at'),
}).as(sql`SELECT
  strftime('%Y-%m-%dT%H:%M:%fZ', results.due_at / 1000.0, 'unixepoch') AS at,
  results.due_at AS due_at,
  targets.name AS target,
  nodes.name AS node,
  CASE results.status WHEN 0 THEN 'up' WHEN 1 THEN 'down' ELSE 'unknown' END AS status,
  results.duration_us / 1000000.0 AS seconds,
  results.failure ->> 'code' AS code,
  results.failure ->> 'message' AS message,
  results.failure ->> 'address' AS address,
  strftime('%Y-%m-%dT%H:%M:%fZ', results.late_at / 1000.0, 'unixepoch') AS late_at
FROM results
CROSS JOIN targets ON targets.id = results.target_id
CROSS JOIN nodes ON nodes.id = results.node_id`);
