import { blob, integer, primaryKey, sqliteTable, text } from './drizzle.ts';
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

/** How far sealing has come: `hours` and `days` that begin before the value are sealed. */
export const marks = sqliteTable('marks', {
  name: text('name').primaryKey(),
  /** Milliseconds since the epoch. */
  value: integer('value').notNull(),
});

/** Stretches of time in which every round of a target ended with the same verdict. */
export const spells = sqliteTable(
  'spells',
  {
    targetId: integer('target_id')
      .notNull()
      .references(() => targets.id),
    /** When its first and its last round were due; the last one of the newest spell is written now and then only. */
    fromAt: integer('from_at').notNull(),
    lastAt: integer('last_at').notNull(),
    /** How long the last round counts where none follows. */
    holdsMs: integer('holds_ms').notNull(),
    /** 0 is up, 1 down, 2 unknown, 3 partial. */
    status: integer('status').notNull(),
    inMaintenance: integer('in_maintenance').notNull(),
  },
  (table) => [primaryKey({ columns: [table.targetId, table.fromAt] })],
);
