import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createProgram, eventually, query } from './program.ts';
import { closedPort, tcpServer } from './tcp-servers.ts';

// Writes test/fixtures/schemas/N.sql for the newest schema: what this program leaves behind with one target down and one up.

const root = new URL('../../', import.meta.url).pathname;
const schema = globSync('migrations/*.sql', { cwd: root }).length;
await using server = await tcpServer((socket) => socket.end());
await using program = await createProgram();
const { end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: { location: [de, Germany, Frankfurt] } }
defaults: { every: 1s, notify: [ops] }
targets:
  shop: { check: tcp, host: "127.0.0.1:${await closedPort()}", timeout: 900ms }
  web: { check: tcp, host: "127.0.0.1:${server.port}", timeout: 900ms }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
`);
await eventually(60_000, () => {
  const [sent] = query(program.database, `SELECT count(*) AS count FROM deliveries WHERE state = 'sent'`);
  if (sent?.['count'] === 0) throw new Error('nothing was sent within a minute');
});
await end('SIGTERM');
const path = join(root, 'test/fixtures/schemas', `${schema}.sql`);
writeFileSync(path, dump(program.database));
process.stdout.write(`${path}\n`);

function dump(file: string): string {
  using database = disposable(new Database(file));
  const { raw } = database;
  const pragma = (name: string) => `PRAGMA ${name} = ${String(raw.pragma(name, { simple: true }))};`;
  const objects = raw
    .prepare<[], { type: string; name: string; sql: string }>(
      `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
       ORDER BY type != 'table', type != 'index', rowid`,
    )
    .all();
  const tables = objects.filter(({ type }) => type === 'table');
  const rows = tables.flatMap(({ name }) =>
    raw
      .prepare<[], Record<string, unknown>>(`SELECT * FROM "${name}"`)
      .all()
      .map((row) => `INSERT INTO "${name}" VALUES(${Object.values(row).map(literal).join(',')});`),
  );
  const sql = (types: readonly string[]) =>
    objects.filter(({ type }) => types.includes(type)).map((one) => `${one.sql};`);
  const lines = [
    pragma('application_id'),
    pragma('user_version'),
    'PRAGMA foreign_keys = OFF;',
    ...sql(['table']),
    ...rows,
    ...sql(['index', 'view', 'trigger']),
  ];
  return `${lines.join('\n')}\n`;
}

function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Buffer.isBuffer(value)) return `X'${value.toString('hex')}'`;
  if (typeof value !== 'string') throw new TypeError('no such value is in a database of ours');
  return `'${value.replaceAll("'", "''")}'`;
}

function disposable(raw: Database.Database) {
  return { raw, [Symbol.dispose]: () => void raw.close() };
}
