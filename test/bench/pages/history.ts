import Database from 'better-sqlite3';
import { createSketch } from '#history/sketch.ts';

const [hourMs, dayMs] = [3_600_000, 86_400_000];
const daysKept = 365;
const hoursKept = 7 * 24;
const rounds = 120;

/** Writes a year into a database that nobody uses: days of a year, hours of a week, an outage a month, for each target and node. */
export function writeYear(path: string, targets: readonly string[], nodes: readonly string[]): void {
  const database = new Database(path);
  const today = Math.floor(Date.now() / dayMs);
  const thisHour = Math.floor(Date.now() / hourMs);
  const name = (table: string, one: string): number => {
    database.prepare(`INSERT OR IGNORE INTO ${table} (name) VALUES (?)`).run(one);
    return (database.prepare(`SELECT id FROM ${table} WHERE name = ?`).get(one) as { id: number }).id;
  };
  const write = database.transaction(() => {
    const targetIds = targets.map((one) => name('targets', one));
    const nodeIds = nodes.map((one) => name('nodes', one));
    const day = sumsOf(rounds * 24);
    const hour = sumsOf(rounds);
    const put = (table: string, unit: string, more: string) =>
      database.prepare(
        `INSERT OR IGNORE INTO ${table} (target_id, node_id, ${unit}, up, down, unknown, late, sum_us, min_us, max_us, sketch${more === '' ? '' : ', pack_id'})
         VALUES (?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?${more})`,
      );
    const days = put('sealed_days', 'day', '');
    const hours = put('sealed_hours', 'hour', ', 0');
    const spell = database.prepare(
      'INSERT OR IGNORE INTO spells (target_id, from_at, last_at, holds_ms, status, in_maintenance) VALUES (?, ?, ?, ?, ?, 0)',
    );
    for (const target of targetIds) {
      for (const node of nodeIds) {
        for (let back = daysKept; back >= 1; back -= 1) days.run(target, node, today - back, ...day);
        for (let back = hoursKept; back >= 1; back -= 1) hours.run(target, node, thisHour - back, ...hour);
      }
      for (let month = 12; month >= 1; month -= 1) {
        const from = (today - month * 30) * dayMs;
        spell.run(target, from, from + 30 * dayMs - 700_000, 60_000, 0);
        spell.run(target, from + 30 * dayMs - 600_000, from + 30 * dayMs - 60_000, 60_000, 1);
      }
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

function sumsOf(count: number) {
  const sketch = createSketch();
  let sum = 0;
  for (let index = 0; index < count; index += 1) {
    const micros = 20_000 + ((index * 7_919) % 20_000);
    sketch.add(micros);
    sum += micros;
  }
  return [count, sum, 20_000, 40_000, Buffer.from(sketch.encode())] as const;
}
