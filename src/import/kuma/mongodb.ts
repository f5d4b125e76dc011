import { isDeepStrictEqual } from 'node:util';
import { CheckSpec } from '#checks/index.ts';
import { parseJson } from '#kernel/json.ts';
import { hostAndPort } from '../convert.ts';
import type { DifferenceReporter, DraftEntry, PlainMap } from '../draft.ts';
import { jsonPathOf } from './json-query.ts';
import type { KumaMonitor } from './schema.ts';

/** A connection string with the servers in it: `mongodb://user:password@a:27017,b/database?replicaSet=rs0`. */
interface MongoUrl {
  readonly servers: readonly string[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** By their names in lowercase, which is how they are compared. */
  readonly options: ReadonlyMap<string, string>;
}

/**
 * A monitor of MongoDB as a check of the first server in its connection string. Null for one that names its servers by SRV records, or
 * signs in by other means than SCRAM.
 */
export function mongodb(monitor: KumaMonitor, say: DifferenceReporter): DraftEntry | null {
  const url = urlIn(monitor.database_connection_string ?? '');
  const [first = '', ...more] = url?.servers ?? [];
  if (url === null || first === '') return null;
  const { username, password, database, options } = url;
  const mechanism = options.get('authmechanism') ?? 'SCRAM-SHA-256';
  if (!mechanism.startsWith('SCRAM-')) return null;
  if (more.length > 0) say('lost', `further servers, each of which needs a target of its own: ${more.join(', ')}`);
  const source = options.get('authsource') ?? database;
  const command = commandOf(monitor, say);
  const { path, expected } = expectationOf(monitor, say);
  const [name, port] = [first.replace(/:\d+$/, ''), /:(\d+)$/.exec(first)?.[1]];
  const set = options.get('replicaset');
  const expectation: PlainMap = { ...expected, ...(set === undefined ? {} : { set }) };
  return {
    check: 'mongodb',
    host: hostAndPort(name, port, 27_017),
    ...(username === undefined ? {} : { username, password: password ?? '' }),
    auth_database: username === undefined || source === 'admin' ? undefined : source,
    // Where a connection string names no database, Kuma's library uses this one.
    database: database ?? (command === undefined ? undefined : 'test'),
    command,
    path,
    tls: tlsOf(options, say),
    expect: Object.keys(expectation).length === 0 ? undefined : expectation,
  };
}

function urlIn(text: string): MongoUrl | null {
  const [, login, servers, database = '', query = ''] =
    /^mongodb:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(text.trim()) ?? [];
  if (servers === undefined) return null;
  const [username, password] = (login ?? '').split(':').map(decoded);
  const options = [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    servers: servers.split(','),
    username: username === '' ? undefined : username,
    password,
    database: database === '' ? undefined : decoded(database),
    options: new Map(options),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

function tlsOf(options: MongoUrl['options'], say: DifferenceReporter): PlainMap | undefined {
  if ((options.get('tls') ?? options.get('ssl')) !== 'true') return undefined;
  if (options.has('tlscafile')) say('lost', 'the authorities of tlsCAFile: give them as tls.ca');
  if (options.has('tlscertificatekeyfile')) say('lost', 'its client certificate');
  const isLax = ['tlsinsecure', 'tlsallowinvalidcertificates'].some((name) => options.get(name) === 'true');
  return { verify: !isLax };
}

function commandOf({ database_query: text = '{"ping": 1}' }: KumaMonitor, say: DifferenceReporter): string | undefined {
  const command = text.trim();
  if (isDeepStrictEqual(parseJson(command), { ping: 1 })) return undefined;
  if (CheckSpec.safeParse({ type: 'mongodb', host: '127.0.0.1', command }).success) return command;
  say('lost', 'its command, which is none that only reads: the check sends ping');
  return undefined;
}

interface MongoExpectation {
  readonly path?: string;
  readonly expected?: PlainMap;
}

function expectationOf(
  { json_path: query = '$', expected_value: value }: KumaMonitor,
  say: DifferenceReporter,
): MongoExpectation {
  const path = jsonPathOf(query);
  if (path === null) {
    say('lost', `the JSON query ${query}: only simple paths can be carried over`);
    return {};
  }
  if (path === '$') {
    if (value !== undefined) say('lost', `its expected value ${value}: it has no JSON query`);
    return {};
  }
  if (value !== undefined) return { path, expected: { equals: value } };
  say('differs', 'a value of 0, false or an empty text is up');
  return { path, expected: { not: null } };
}
