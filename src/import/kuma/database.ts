import { basename } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { proxiesOf } from './client.ts';
import {
  type KumaBeat,
  type KumaData,
  KumaEngine,
  KumaMaintenance,
  KumaMonitor,
  Notification,
  parsed,
} from './schema.ts';

const KumaRow = z.record(z.string(), z.unknown());
type KumaRow = z.output<typeof KumaRow>;

/** Reads the database of Uptime Kuma, of any version that has one in SQLite. It is not changed. */
export function readDatabase(path: string): KumaData & Disposable {
  const database = openReadOnly(path);
  const tables = new Set(
    rowsOf(database, `SELECT name FROM sqlite_schema WHERE type = 'table'`).map(({ name }) => name),
  );
  const all = (table: string) => (tables.has(table) ? rowsOf(database, `SELECT * FROM "${table}"`) : []);
  const pairs = (table: string, one: string, many: string) => groupOf(all(table), one, many);

  const notifications = pairs('monitor_notification', 'monitor_id', 'notification_id');
  const maintained = pairs('monitor_maintenance', 'maintenance_id', 'monitor_id');
  const tags = new Map(all('tag').map((row) => [row['id'], row['name']]));
  const tagsOf = Map.groupBy(all('monitor_tag'), (row) => row['monitor_id']);
  return {
    place: basename(path),
    monitors: all('monitor').map((row) =>
      KumaMonitor.parse({
        ...row,
        accepted_statuscodes: row['accepted_statuscodes_json'],
        notifications: notifications.get(row['id']),
        tags: tagsOf.get(row['id'])?.map((tag) => ({ name: tags.get(tag['tag_id']), value: tag['value'] })),
      }),
    ),
    notifications: all('notification').map((row) => Notification.parse(row)),
    maintenance: all('maintenance').map((row) =>
      KumaMaintenance.parse({ ...row, monitors: maintained.get(row['id']) }),
    ),
    settings: new Map(all('setting').map((row) => [String(row['key']), settingOf(row['value'])])),
    proxies: proxiesOf(all('proxy')),
    engines: new Map(
      all('docker_host')
        .map((row) => KumaEngine.parse(row))
        .map((engine) => [engine.id, engine]),
    ),
    others: new Map(['status_page', 'incident', 'api_key'].map((table) => [table, all(table).length])),
    beats: tables.has('heartbeat') ? () => beatsOf(database) : null,
    [Symbol.dispose]: () => void database.close(),
  };
}

function openReadOnly(path: string): Database.Database {
  try {
    const database = new Database(path, { readonly: true, fileMustExist: true });
    if (database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'monitor'`).get() !== undefined) return database;
    database.close();
  } catch (error) {
    throw new WatchpostError('usage', `${path} cannot be read as a database: ${messageOf(error)}`, { cause: error });
  }
  throw new WatchpostError('usage', `${path} is not a database of Uptime Kuma: it has no table "monitor"`);
}

const rowsOf = (database: Database.Database, sql: string): readonly KumaRow[] =>
  z.array(KumaRow).parse(database.prepare(sql).all());

function groupOf(rows: readonly KumaRow[], one: string, many: string): ReadonlyMap<unknown, readonly unknown[]> {
  const groups = Map.groupBy(rows, (row) => row[one]);
  return new Map([...groups].map(([key, group]) => [key, group.map((row) => row[many])]));
}

function settingOf(value: unknown): string {
  const known = parsed(value) ?? value ?? '';
  return typeof known === 'string' ? known : JSON.stringify(known);
}

const BeatRow = z.object({
  monitor_id: z.int(),
  status: z.int(),
  time: z.union([z.string(), z.number()]),
  ping: z.number().nullable(),
  msg: z.string().nullable(),
});

// What stood in maintenance was not looked at. Times are texts in UTC.
function* beatsOf(database: Database.Database): Iterable<KumaBeat> {
  const rows = database.prepare(
    'SELECT monitor_id, status, time, ping, msg FROM heartbeat WHERE status IN (0, 1, 2) ORDER BY time',
  );
  for (const row of rows.iterate()) {
    const { monitor_id: monitor, status, time, ping, msg } = BeatRow.parse(row);
    const at = typeof time === 'number' ? time : Date.parse(`${time.replace(' ', 'T').replace(/Z$/, '')}Z`);
    if (!Number.isNaN(at)) yield { at, monitor, status, pingMs: ping, message: msg ?? '' };
  }
}
