import { blob, index, integer, primaryKey, real, sql, sqliteTable, sqliteView, text, uniqueIndex } from './drizzle.ts';
import { targets } from './schema.ts';

// Times are whole milliseconds since the epoch. Sealing writes and reads these tables by SQL of its own.

/** Results that came when their hour was sealed already, until they are sealed into it. */
export const lateResults = sqliteTable(
  'late_results',
  {
    targetId: integer('target_id').notNull(),
    nodeId: integer('node_id').notNull(),
    dueAt: integer('due_at').notNull(),
    status: integer('status').notNull(),
    durationUs: integer('duration_us'),
    failure: text('failure'),
    lateAt: integer('late_at'),
  },
  (table) => [primaryKey({ columns: [table.targetId, table.nodeId, table.dueAt] })],
);

const sums = {
  up: integer('up').notNull(),
  down: integer('down').notNull(),
  unknown: integer('unknown').notNull(),
  late: integer('late').notNull(),
  /** Of the times of results that are up, whole microseconds. */
  sumUs: integer('sum_us').notNull(),
  minUs: integer('min_us'),
  maxUs: integer('max_us'),
  /** Of the same times: `src/history/sketch.ts`. */
  sketch: blob('sketch', { mode: 'buffer' }).notNull(),
};

/** One row for each hour, target and node. `hour` counts hours since the epoch. */
export const sealedHours = sqliteTable(
  'sealed_hours',
  {
    targetId: integer('target_id').notNull(),
    nodeId: integer('node_id').notNull(),
    hour: integer('hour').notNull(),
    ...sums,
    /** The row of `packs` that has its results, as long as they are kept. */
    packId: integer('pack_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.targetId, table.nodeId, table.hour] })],
);

/** The results of sealed hours, one row for an hour of a target at a node, in the order in which they were sealed. */
export const packs = sqliteTable('packs', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  hour: integer('hour').notNull(),
  /** `src/history/pack.ts`. */
  results: blob('results', { mode: 'buffer' }).notNull(),
});

/** One row for each day (UTC), target and node. `day` counts days since the epoch. */
export const sealedDays = sqliteTable(
  'sealed_days',
  {
    targetId: integer('target_id').notNull(),
    nodeId: integer('node_id').notNull(),
    day: integer('day').notNull(),
    ...sums,
  },
  (table) => [primaryKey({ columns: [table.targetId, table.nodeId, table.day] })],
);

/** What checks measured under names of their own, one row for an hour of a target at a node. */
export const measuredHours = sqliteTable(
  'measured_hours',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    target: text('target').notNull(),
    node: text('node').notNull(),
    /** Counts hours since the epoch. */
    hour: integer('hour').notNull(),
    /** `src/history/measured-hour.ts`. */
    content: blob('content', { mode: 'buffer' }).notNull(),
  },
  (table) => [
    uniqueIndex('measured_hours_once').on(table.target, table.node, table.hour),
    index('measured_hours_by_hour').on(table.hour),
  ],
);

/** How far sealing has come: `hours` and `days` that begin before the value are sealed. */
export const marks = sqliteTable('marks', {
  name: text('name').primaryKey(),
  /** Milliseconds since the epoch. */
  value: integer('value').notNull(),
});

/** Stretches of time in which every round of a target ended with the same verdict. */
export const periods = sqliteTable(
  'verdict_periods',
  {
    targetId: integer('target_id')
      .notNull()
      .references(() => targets.id),
    /** When its first and its last round were due; the last one of the newest period is written now and then only. */
    fromAt: integer('from_at').notNull(),
    lastAt: integer('last_at').notNull(),
    /** How long the last round counts if none follows. */
    holdsMs: integer('holds_ms').notNull(),
    /** 0 is up, 1 down, 2 unknown, 3 partial. */
    status: integer('status').notNull(),
    inMaintenance: integer('in_maintenance').notNull(),
  },
  (table) => [primaryKey({ columns: [table.targetId, table.fromAt] })],
);

const sumsForPeople = {
  target: text('target').notNull(),
  node: text('node').notNull(),
  up: integer('up').notNull(),
  down: integer('down').notNull(),
  unknown: integer('unknown').notNull(),
  late: integer('late').notNull(),
  min: real('min'),
  mean: real('mean'),
  max: real('max'),
};

// The order of the tables is that of the keys, so that a target and a span are found without reading the others.

/** Sealed hours as people read them; one that is being sealed is not among them. */
export const hours = sqliteView('hours', {
  at: text('at').notNull(),
  hour: integer('hour').notNull(),
  ...sumsForPeople,
}).as(sql`SELECT
  strftime('%Y-%m-%dT%H:00Z', sealed_hours.hour * 3600, 'unixepoch') AS at,
  sealed_hours.hour AS hour,
  targets.name AS target,
  nodes.name AS node,
  up, down, unknown, late,
  min_us / 1000000.0 AS min,
  sum_us / 1000000.0 / nullif(up, 0) AS mean,
  max_us / 1000000.0 AS max
FROM targets
CROSS JOIN nodes
CROSS JOIN sealed_hours ON sealed_hours.target_id = targets.id AND sealed_hours.node_id = nodes.id
WHERE sealed_hours.hour < (SELECT value / 3600000 FROM marks WHERE marks.name = 'hours_until')`);

/** Sealed days, in the same way. */
export const days = sqliteView('days', { at: text('at').notNull(), day: integer('day').notNull(), ...sumsForPeople })
  .as(sql`SELECT
  strftime('%Y-%m-%d', sealed_days.day * 86400, 'unixepoch') AS at,
  sealed_days.day AS day,
  targets.name AS target,
  nodes.name AS node,
  up, down, unknown, late,
  min_us / 1000000.0 AS min,
  sum_us / 1000000.0 / nullif(up, 0) AS mean,
  max_us / 1000000.0 AS max
FROM targets
CROSS JOIN nodes
CROSS JOIN sealed_days ON sealed_days.target_id = targets.id AND sealed_days.node_id = nodes.id
WHERE sealed_days.day < (SELECT value / 86400000 FROM marks WHERE marks.name = 'days_until')`);

/** When targets were down. An outage lasts until the next period, but no longer than its last round holds. */
export const outages = sqliteView('outages', {
  target: text('target').notNull(),
  began: text('began').notNull(),
  ended: text('ended').notNull(),
  seconds: real('seconds').notNull(),
  maintenance: integer('maintenance').notNull(),
  fromAt: integer('from_at').notNull(),
}).as(sql`SELECT
  target,
  strftime('%Y-%m-%dT%H:%M:%fZ', from_at / 1000.0, 'unixepoch') AS began,
  strftime('%Y-%m-%dT%H:%M:%fZ', to_at / 1000.0, 'unixepoch') AS ended,
  (to_at - from_at) / 1000.0 AS seconds,
  maintenance,
  from_at
FROM (SELECT
  targets.name AS target,
  verdict_periods.from_at AS from_at,
  verdict_periods.in_maintenance AS maintenance,
  min(last_at + holds_ms, coalesce(
    (SELECT min(later.from_at) FROM verdict_periods AS later WHERE later.target_id = targets.id AND later.from_at > verdict_periods.from_at),
    last_at + holds_ms)) AS to_at
FROM targets
CROSS JOIN verdict_periods ON verdict_periods.target_id = targets.id
WHERE verdict_periods.status = 1)`);
