import { hostAndPort } from '../convert.ts';
import type { DifferenceReporter, DraftEntry, PlainMap } from '../draft.ts';
import type { KumaMonitor } from './schema.ts';

/** A connection string as a URL, as Kuma takes it: `postgres://user:password@host:port/database?sslmode=require`. */
interface ServerUrl {
  readonly host: string;
  readonly options: PlainMap;
  readonly database: string | undefined;
  readonly isSecure: boolean;
}

function serverIn({ database_connection_string: text = '' }: KumaMonitor, port: number): ServerUrl | null {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return null;
  const { username, password, protocol, searchParams } = url;
  const mode = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? 'disable';
  return {
    host: `${url.hostname}:${url.port || port}`,
    options: {
      username: username === '' ? undefined : decodeURIComponent(username),
      password: password === '' ? undefined : decodeURIComponent(password),
    },
    database: url.pathname.length > 1 ? decodeURIComponent(url.pathname.slice(1)) : undefined,
    isSecure: protocol === 'rediss:' || !['disable', 'false', 'allow', 'prefer'].includes(mode),
  };
}

const noServer: DraftEntry = { leftOut: 'its connection string names no server' };

/** A monitor of PostgreSQL or MySQL as a check with its query. */
export function sql(check: 'postgres' | 'mysql', port: number) {
  return (monitor: KumaMonitor, say: DifferenceReporter): DraftEntry => {
    const server = serverIn(monitor, port);
    if (server === null) return noServer;
    const { database_query: query } = monitor;
    if (query !== undefined) say('differs', 'its query runs in a read-only transaction');
    if (monitor.conditions.length > 0) say('lost', 'conditions on the result of its query');
    const { host, options, database, isSecure } = server;
    // Kuma's libraries take any certificate unless the URL asks for more.
    const tls = isSecure ? { verify: false } : undefined;
    return { check, host, ...options, database, query, tls };
  };
}

/** A monitor of Redis, which sends PING. */
export function redis(monitor: KumaMonitor): DraftEntry {
  const server = serverIn(monitor, 6_379);
  if (server === null) return noServer;
  const { host, options, database, isSecure } = server;
  const tls = isSecure ? { verify: !monitor.ignore_tls } : undefined;
  const number = Number(database ?? 0);
  return {
    check: 'redis',
    host,
    ...options,
    database: Number.isInteger(number) && number > 0 ? number : undefined,
    tls,
  };
}

/** A monitor of an MQTT topic, which waits for a message that contains a text. */
export function mqtt(monitor: KumaMonitor, say: DifferenceReporter): DraftEntry {
  const { hostname = '', port, mqtt_topic: topic, mqtt_success_message: message = '' } = monitor;
  const [, scheme = '', name = ''] = /^(?:(\w+):\/\/)?(.*)$/.exec(hostname) ?? [];
  if (scheme === 'ws' || scheme === 'wss') return { leftOut: 'it speaks MQTT over WebSocket' };
  const isJson = monitor.mqtt_check_type === 'json-query';
  if (isJson) say('lost', 'the JSON query: any message on its topic will do');
  const isSecure = scheme === 'mqtts';
  return {
    check: 'mqtt',
    host: `${isSecure ? 'mqtts://' : ''}${hostAndPort(name, port, isSecure ? 8_883 : 1_883)}`,
    username: monitor.mqtt_username,
    password: monitor.mqtt_password,
    topic,
    expect: isJson || message === '' || topic === undefined ? undefined : message.replaceAll('\\', '\\\\'),
  };
}
