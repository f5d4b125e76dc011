import type { PackedResult } from '#history/pack.ts';
import { systemClock } from '#kernel/clock.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { openDatabase } from '#store/open.ts';
import { type HistoryParts, openHistoryParts } from '#store/sealing/parts.ts';
import { putPeriod } from '#store/verdict-periods.ts';
import { createWriter } from '#store/write.ts';
import { closing, opening, quiet, start } from '../../support/store.ts';
import { liveFrom, names, nodes, random, rawFrom, retention, size, takes } from './size.ts';

type File = ReturnType<typeof openDatabase>;

// Days that the store seals itself; all others are copies of these, so that years are made in minutes.
const templateDays = 40;
const columns = 'up, down, unknown, late, sum_us, min_us, max_us, sketch';
const outageEveryDays = 10;
const outageMs = 300_000;
const toldDays = 90;

/** Makes a file of sealed days, hours and results until `liveFrom`, with the periods and incidents of their outages. */
export function makePast(path: string): void {
  using file = openDatabase({ path, pid: process.pid, log: quiet });
  const parts = openHistoryParts(file.raw, retention, systemClock);
  // Nobody else waits for this.
  for (const pragma of ['synchronous = OFF', 'cache_size = -800000', 'journal_mode = OFF']) file.raw.pragma(pragma);
  const insert = (table: string, name: string) =>
    Number(file.raw.prepare(`INSERT INTO ${table} (name) VALUES (?)`).run(name).lastInsertRowid);
  const targetIds = names.map((name) => insert('targets', name));
  const nodeIds = nodes.map((name) => insert('nodes', name));
  const template = insert('targets', 'template');
  const firstPacks = makeTemplate(file, parts, template, nodeIds);
  const copyDay = dayCopier(file, template, firstPacks);
  for (let day = start; day < liveFrom; day += dayMs) copyDay(day, targetIds, nodeIds);
  for (const table of ['sealed_hours', 'sealed_days'])
    file.raw.prepare(`DELETE FROM ${table} WHERE target_id = ?`).run(template);
  file.raw.prepare('DELETE FROM packs WHERE id < ?').run((firstPacks.at(-1) ?? 0) + templateDays * 24);
  file.raw.prepare('DELETE FROM targets WHERE id = ?').run(template);
  makeOutages(file, parts, targetIds);
  parts.marks.set('hours_until', liveFrom);
  // The last day is to be made of its hours.
  parts.marks.set('days_until', liveFrom - dayMs);
  parts.marks.set('results_from', rawFrom);
  parts.marks.set('hours_from', start);
  parts.marks.set('periods_done', template);
}

/** Gives for each node where the packs of its days begin: 24 to a day. */
function makeTemplate(file: File, { rows }: HistoryParts, template: number, nodeIds: readonly number[]) {
  return nodeIds.map((nodeId) => {
    const pair = { targetId: template, nodeId };
    file.raw.transaction(() => {
      for (let day = start; day < start + templateDays * dayMs; day += dayMs) {
        const phase = Math.floor(random.next() * size.everyMs);
        for (let hour = day; hour < day + dayMs; hour += hourMs) rows.putHour(pair, hour, hourOfResults(hour + phase));
        rows.putDay(pair, day);
      }
    })();
    const first = file.raw
      .prepare<[number, number], { id: number }>(
        'SELECT min(pack_id) AS id FROM sealed_hours WHERE target_id = ? AND node_id = ?',
      )
      .get(template, nodeId);
    return first?.id ?? 0;
  });
}

function hourOfResults(from: number): readonly PackedResult[] {
  return Array.from({ length: hourMs / size.everyMs }, (_, index) => ({
    dueAt: from + index * size.everyMs,
    status: 'up',
    durationUs: takes(),
    failure: null,
    lateAt: null,
  }));
}

function dayCopier({ raw }: File, template: number, firstPacks: readonly number[]) {
  const from = `FROM sealed_hours WHERE target_id = ${template} AND node_id = :nodeId`;
  const hours = raw.prepare(
    `INSERT INTO sealed_hours (target_id, node_id, hour, ${columns}, pack_id)
     SELECT :targetId, node_id, hour + :shift * 24, ${columns}, 0 ${from} AND hour >= :day * 24 AND hour < :day * 24 + 24`,
  );
  const hour = raw.prepare(
    `INSERT INTO sealed_hours (target_id, node_id, hour, ${columns}, pack_id)
     SELECT :targetId, node_id, :hour, ${columns}, :packId ${from} AND hour = :of`,
  );
  const pack = raw.prepare('INSERT INTO packs (hour, results) SELECT ?, results FROM packs WHERE id = ?');
  const day = raw.prepare(
    `INSERT INTO sealed_days (target_id, node_id, day, ${columns})
     SELECT :targetId, node_id, day + :shift, ${columns} FROM sealed_days
     WHERE target_id = ${template} AND node_id = :nodeId AND day = :day`,
  );
  const firstDay = start / dayMs;
  return raw.transaction((at: number, targetIds: readonly number[], nodeIds: readonly number[]) => {
    const pairs = targetIds.flatMap((targetId) =>
      nodeIds.map((nodeId, place) => ({
        targetId,
        nodeId,
        of: Math.floor(random.next() * templateDays),
        firstPack: firstPacks[place] ?? 0,
      })),
    );
    for (const { targetId, nodeId, of } of pairs) {
      const asked = { targetId, nodeId, day: firstDay + of, shift: at / dayMs - firstDay - of };
      if (at < rawFrom) hours.run(asked);
      if (at + dayMs < liveFrom) day.run(asked);
    }
    // In the order in which sealing would have made them.
    const kept = at < rawFrom ? 0 : 24;
    for (let place = 0; place < kept; place += 1) {
      for (const { targetId, nodeId, of, firstPack } of pairs) {
        const packId = pack.run(at / hourMs + place, firstPack + of * 24 + place).lastInsertRowid;
        hour.run({ targetId, nodeId, hour: at / hourMs + place, of: (firstDay + of) * 24 + place, packId });
      }
    }
  });
}

// Each target is down for some minutes every ten days; of the newest outages there are incidents, and they were told.
function makeOutages(file: File, parts: HistoryParts, targetIds: readonly number[]): void {
  const writer = createWriter(file, parts);
  const insert = file.raw.prepare<[number, number, number, number, number, number]>(
    'INSERT INTO verdict_periods (target_id, from_at, last_at, holds_ms, status, in_maintenance) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const put = (targetId: number, from: number, until: number, status: 'up' | 'down') =>
    putPeriod(insert, targetId, {
      from,
      last: until - size.everyMs,
      holdsMs: 2 * size.everyMs,
      status,
      inMaintenance: false,
    });
  const make = file.raw.transaction((index: number, targetId: number) => {
    let from = start;
    for (let day = start + (index % outageEveryDays) * dayMs; day < liveFrom; day += outageEveryDays * dayMs) {
      const began = day + 3 * hourMs;
      put(targetId, from, began, 'up');
      put(targetId, began, began + outageMs, 'down');
      from = began + outageMs;
      if (began < liveFrom - toldDays * dayMs) continue;
      const name = names[index] ?? '';
      writer.writeRound({ ...opening(name, began), votes: [] });
      writer.writeRound({ ...closing(name, began, from), votes: [] });
    }
    put(targetId, from, liveFrom, 'up');
  });
  for (const [index, targetId] of targetIds.entries()) make(index, targetId);
  file.raw.exec(`UPDATE deliveries SET state = 'sent', settled_at = created_at`);
}
