import Database from 'better-sqlite3';
import { createSketch } from '#history/sketch.ts';
import type { TimeSpan } from '#history/span.ts';
import { dayMs, hourMs } from '#kernel/units.ts';

const usualDays = 365;
const hoursKept = 7 * 24;

/** The figures of an hour or a day of a target at a node, in which it was always up. */
export type Sums = readonly [count: number, sum: number, least: number, most: number, sketch: Buffer];

/** A year that was, or more: days, and hours of a week. */
export interface Year {
  readonly targets: readonly string[];
  readonly nodes: readonly string[];
  readonly sums: (target: string, node: string, span: TimeSpan) => Sums;
  /** When a target was down, the first outage first. */
  readonly outages: (target: string) => readonly TimeSpan[];
  /** How many days there are; those of a year if it is not said. */
  readonly days?: number;
}

/** The sums of these times, in microseconds. */
export function sumsOf(times: readonly number[]): Sums {
  const sketch = createSketch();
  for (const micros of times) sketch.add(micros);
  const sum = times.reduce((all, micros) => all + micros, 0);
  return [times.length, sum, Math.min(...times), Math.max(...times), Buffer.from(sketch.encode())];
}

/** Writes a year into a database that nobody uses, up to the hour that goes on. */
export function writeYear(path: string, { targets, nodes, sums, outages, days: daysKept = usualDays }: Year): void {
  const database = new Database(path);
  const today = Math.floor(Date.now() / dayMs);
  const thisHour = Math.floor(Date.now() / hourMs);
  const idOf = (table: string, one: string): number => {
    database.prepare(`INSERT OR IGNORE INTO ${table} (name) VALUES (?)`).run(one);
    return (database.prepare(`SELECT id FROM ${table} WHERE name = ?`).get(one) as { id: number }).id;
  };
  const put = (table: string, unit: string, more: string) =>
    database.prepare(
      `INSERT OR IGNORE INTO ${table} (target_id, node_id, ${unit}, up, down, unknown, late, sum_us, min_us, max_us, sketch${more === '' ? '' : ', pack_id'})
       VALUES (?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?${more})`,
    );
  const write = database.transaction(() => {
    const days = put('sealed_days', 'day', '');
    const hours = put('sealed_hours', 'hour', ', 0');
    const period = database.prepare(
      'INSERT OR IGNORE INTO verdict_periods (target_id, from_at, last_at, holds_ms, status, in_maintenance) VALUES (?, ?, ?, 60000, ?, 0)',
    );
    const nodeIds = nodes.map((node) => ({ node, nodeId: idOf('nodes', node) }));
    for (const target of targets) {
      const targetId = idOf('targets', target);
      for (const { node, nodeId } of nodeIds) {
        const fill = (rows: Database.Statement, newest: number, count: number, ms: number) => {
          for (let unit = newest - count; unit < newest; unit += 1)
            rows.run(targetId, nodeId, unit, ...sums(target, node, { from: unit * ms, to: (unit + 1) * ms }));
        };
        fill(days, today, daysKept, dayMs);
        fill(hours, thisHour, hoursKept, hourMs);
      }
      let from = (today - daysKept) * dayMs;
      for (const outage of outages(target)) {
        period.run(targetId, from, outage.from - 60_000, 0);
        period.run(targetId, outage.from, outage.to - 60_000, 1);
        from = outage.to;
      }
      period.run(targetId, from, thisHour * hourMs - 60_000, 0);
    }
    const mark = database.prepare('INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)');
    mark.run('days_until', today * dayMs);
    mark.run('hours_until', thisHour * hourMs);
    mark.run('hours_from', (thisHour - hoursKept) * hourMs);
    mark.run('results_from', thisHour * hourMs);
  });
  write();
  database.close();
}
