import { sha256 } from '#kernel/hash.ts';
import { hostAndPort, statusRanges, timeoutFor } from '../convert.ts';
import {
  isSkipped,
  isMap,
  type DraftEntry,
  type PlainValue,
  type PlainMap,
  type DifferenceReporter,
} from '../draft.ts';
import { clientKeysOf } from './client.ts';
import { mongodb } from './mongodb.ts';
import { mqtt, redis, sql } from './servers.ts';
import { jsonExpectation } from './json-query.ts';
import { container, systemService } from './engines.ts';
import { parsed, type KumaData, type KumaMonitor } from './schema.ts';

const leftOut = (why: string): DraftEntry => ({ leftOut: why });

/** The check of a monitor, or why there is none. */
export function checkOfMonitor(
  monitor: KumaMonitor,
  { proxies, engines }: Pick<KumaData, 'proxies' | 'engines'>,
  say: DifferenceReporter,
): DraftEntry {
  const { type = '', upside_down } = monitor;
  if (upside_down) return leftOut('it is upside down, and no check is up when its target is down');
  const make = type === 'docker' ? container(engines) : makers[type];
  if (make === undefined) return leftOut(reasons[type] ?? `there is no check for a monitor of the type ${type}`);
  const way = clientKeysOf(monitor, proxies, say);
  if (isSkipped(way)) return way;
  const made = make(monitor, say);
  return isSkipped(made) ? made : { ...made, ...way };
}

const reasons: Readonly<Record<string, string>> = {
  manual: 'its status is set by hand',
  'grpc-keyword': 'it calls its own method; for the health of a server use the check grpc',
};

const makers: Readonly<Record<string, (monitor: KumaMonitor, say: DifferenceReporter) => DraftEntry>> = {
  http,
  keyword: (monitor, say) => ({
    ...http(monitor, say),
    expect: { ...expectationOf(monitor), body: keywordOf(monitor) },
  }),
  'json-query'(monitor, say) {
    const { json, lost, differs } = jsonExpectation(monitor);
    if (lost !== null) say('lost', lost);
    if (differs !== null) say('differs', differs);
    return { ...http(monitor, say), expect: { ...expectationOf(monitor), body: json === null ? undefined : { json } } };
  },
  'real-browser'(monitor, say) {
    say('lost', 'the browser: only the page itself is fetched, its scripts do not run');
    return http(monitor, say);
  },
  globalping(monitor, say) {
    say('differs', 'it is checked by the nodes of this configuration, not by those of Globalping');
    const { subtype = 'ping' } = monitor;
    return makers[subtype]?.(monitor, say) ?? leftOut(`there is no check for ${subtype}`);
  },
  ping: (monitor) => ({
    check: 'ping',
    host: monitor.hostname,
    count: Math.min(Math.max(monitor.ping_count, 1), 20),
    interval: monitor.ping_count > 1 ? '1s' : undefined,
    size: monitor.packet_size === 56 ? undefined : `${Math.min(Math.max(monitor.packet_size, 8), 1_472)}B`,
    family: familyOf(monitor),
  }),
  port(monitor, say) {
    const { expected_tls_alert = 'none', smtp_security = '' } = monitor;
    if (expected_tls_alert !== 'none') return leftOut(`it has to be refused by the TLS alert ${expected_tls_alert}`);
    if (smtp_security === 'starttls') return startTls(monitor, say);
    return { ...tcp(monitor, 80), tls: smtp_security === 'secure' ? true : undefined };
  },
  smtp(monitor, say) {
    const { smtp_security: security = '' } = monitor;
    if (security === '') say('differs', 'STARTTLS is not used, whether the server offers it or not');
    const tls = security === 'secure' ? true : undefined;
    return { ...tcp(monitor, 25), tls, preset: 'smtp', starttls: security === 'starttls' ? true : undefined };
  },
  'websocket-upgrade': webSocket,
  push,
  dns,
  ntp: (monitor) => ({ check: 'udp', host: hostAndPort(monitor.hostname, monitor.port, 123), send: 'ntp' }),
  rabbitmq(monitor, say) {
    const [first, ...more] = monitor.rabbitmq_nodes;
    if (first === undefined) return leftOut('it names no node');
    if (more.length > 0) say('lost', `further nodes: ${more.join(', ')}`);
    const basic_auth = { username: monitor.rabbitmq_username ?? '', password: monitor.rabbitmq_password ?? '' };
    return {
      check: 'http',
      host: `${first.replace(/\/$/, '')}/api/health/checks/alarms/`,
      basic_auth,
      expect: { status: 200 },
    };
  },
  mqtt,
  postgres: sql('postgres', 5_432),
  mysql: sql('mysql', 3_306),
  redis,
  'system-service': systemService,
  mongodb: (monitor, say) => mongodb(monitor, say) ?? onlyConnects('MongoDB', serverOf(monitor, 27_017), say),
  sqlserver: (monitor, say) => onlyConnects('SQL Server', serverOf(monitor, 1433), say),
};

// Kuma knows the protocol by its greeting.
function startTls(monitor: KumaMonitor, say: DifferenceReporter): DraftEntry {
  const port = Number(monitor.port ?? 25);
  if (port === 5_222) return leftOut('there is no STARTTLS for XMPP');
  const protocol = port === 143 ? 'imap' : 'smtp';
  const trust = monitor.ignore_tls ? '' : '; a certificate that is not trusted is down';
  say('differs', `STARTTLS is that of ${protocol}, by the port${trust}`);
  return { ...tcp(monitor, 25), check: 'tls', starttls: protocol, verify: monitor.ignore_tls ? false : undefined };
}

function webSocket(monitor: KumaMonitor, say: DifferenceReporter): DraftEntry {
  const { url = '', ws_subprotocol: protocol = '', ws_ignore_sec_websocket_accept_header: isLenient } = monitor;
  const { headers, basic_auth, bearer, tls } = http(monitor, say);
  if (isLenient) return leftOut('its server may answer a handshake wrongly, which no check takes for up');
  const [first = '', ...more] = protocol.split(',').map((one) => one.trim());
  if (more.length > 0) say('lost', `further subprotocols: ${more.join(', ')}`);
  if (basic_auth !== undefined) say('lost', 'its user and password: give them as the header Authorization');
  const authorization = typeof bearer === 'string' ? { Authorization: `Bearer ${bearer}` } : {};
  const all: PlainMap = { ...(isMap(headers) ? headers : {}), ...authorization };
  return {
    check: 'websocket',
    host: url,
    family: familyOf(monitor),
    protocol: first === '' ? undefined : first,
    headers: Object.keys(all).length === 0 ? undefined : all,
    tls,
  };
}

// What calls goes on with the secret that it has.
function push({ push_token: token = '' }: KumaMonitor, say: DifferenceReporter): DraftEntry {
  if (token === '') return leftOut('it has no token');
  say('differs', 'the job has to call /beat/<push token> here, and /beat/<push token>/fail instead of status=down');
  return { check: 'heartbeat', secret_hash: sha256(token), grace: '1s' };
}

// A port that accepts connections is worth watching, even without a login.
function onlyConnects(what: string, host: string | null, say: DifferenceReporter): DraftEntry {
  if (host === null) return leftOut('its connection string names no server');
  say('lost', `${what}: no login and no query, only the connection is made`);
  return { check: 'tcp', host };
}

function serverOf({ database_connection_string: text = '' }: KumaMonitor, port: number): string | null {
  const url = URL.parse(text.replace(/^mongodb\+srv:/, 'mongodb:'));
  if (url !== null && url.hostname !== '') return `${url.hostname}:${url.port || port}`;
  const [, server] = /(?:^|;)\s*(?:server|data source)\s*=\s*(?:tcp:)?([^;]+)/i.exec(text) ?? [];
  return server === undefined
    ? null
    : hostAndPort(server.trim().replace(',', ':').replace(/:\d+$/, ''), /[,:](\d+)$/.exec(server)?.[1], port);
}

const tcp = (monitor: KumaMonitor, port: number) => ({
  check: 'tcp',
  host: hostAndPort(monitor.hostname, monitor.port, port),
  family: familyOf(monitor),
});

const familyOf = ({ ip_family }: KumaMonitor) => (ip_family === 'ipv4' ? 4 : ip_family === 'ipv6' ? 6 : undefined);

function http(monitor: KumaMonitor, say: DifferenceReporter): PlainMap {
  const { method = 'GET', auth_method, tls_ca, tls_cert, tls_key } = monitor;
  const tls: PlainMap = {
    verify: monitor.ignore_tls ? false : undefined,
    ca: auth_method === 'mtls' ? tls_ca : undefined,
    client:
      auth_method === 'mtls' && tls_cert !== undefined && tls_key !== undefined
        ? { cert: tls_cert, key: tls_key }
        : undefined,
  };
  if (monitor['cache_bust'] === 1 || monitor['cache_bust'] === true)
    say('lost', 'a part of the URL that changes with each request');
  return {
    check: 'http',
    host: monitor.url,
    method: method.toUpperCase() === 'GET' ? undefined : method.toUpperCase(),
    headers: headersOf(monitor, say),
    body: monitor.body,
    basic_auth:
      auth_method === 'basic'
        ? { username: monitor.basic_auth_user ?? '', password: monitor.basic_auth_pass ?? '' }
        : undefined,
    bearer: auth_method === 'bearer' ? monitor.bearer_token : undefined,
    family: familyOf(monitor),
    redirects: monitor.maxredirects === 0 ? undefined : Math.min(monitor.maxredirects, 5),
    tls: Object.values(tls).every((value) => value === undefined) ? undefined : tls,
    expect: expectationOf(monitor),
  };
}

function expectationOf({ accepted_statuscodes: codes }: KumaMonitor): PlainMap {
  const ranges = (codes.length === 0 ? ['200-299'] : codes).map((code) => code.split('-').map(Number));
  const status = statusRanges((code) => ranges.some(([from = 0, to = from]) => code >= from && code <= to));
  return { status: status ?? '200-299' };
}

const contentTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'text/xml; charset=utf-8',
};

function headersOf(
  { headers, body, http_body_encoding = 'json' }: KumaMonitor,
  say: DifferenceReporter,
): PlainMap | undefined {
  const type = body === undefined ? undefined : contentTypes[http_body_encoding];
  const own = parsed(headers);
  if (headers !== undefined && (typeof own !== 'object' || own === null)) say('lost', 'headers that are no JSON');
  const written =
    typeof own === 'object' && own !== null ? Object.entries(own).map(([name, value]) => [name, String(value)]) : [];
  const all = { ...(type === undefined ? {} : { 'Content-Type': type }), ...Object.fromEntries(written) };
  return Object.keys(all).length === 0 ? undefined : all;
}

function keywordOf({ keyword = '', invert_keyword }: KumaMonitor): PlainMap {
  return invert_keyword ? { not_contains: keyword } : { contains: keyword };
}

function dns(monitor: KumaMonitor, say: DifferenceReporter): DraftEntry {
  const record = (monitor.dns_resolve_type ?? 'A').toUpperCase();
  const [resolver, ...more] = (monitor.dns_resolve_server ?? '').split(',').map((server) => server.trim());
  if (more.length > 0) say('lost', `further name servers: ${more.join(', ')}`);
  const { conditions } = monitor;
  const equal = conditions.filter(({ operator, variable }) => operator === 'equals' && variable === 'record');
  const isSimple =
    equal.length === conditions.length && conditions.slice(1).every(({ andOr }) => andOr === 'or') && record !== 'MX';
  if (!isSimple) say('lost', 'conditions that are more than a list of records, one of which has to be there');
  const values = isSimple ? equal.map(({ value = '' }) => value) : [];
  return {
    check: 'dns',
    host: monitor.hostname,
    record,
    resolver: resolver === '' || resolver === undefined ? undefined : hostAndPort(resolver, monitor.port, 53),
    expect: values.length === 0 ? undefined : ({ match: 'any', [record]: values } satisfies Record<string, PlainValue>),
  };
}

const httpTypes: readonly (string | undefined)[] = ['http', 'keyword', 'json-query', 'real-browser'];

/** The longest a check may take where Kuma lets that be chosen, within what fits between two rounds. */
export function timeoutOf({ timeout, interval, type }: KumaMonitor): string | undefined {
  const everyMs = interval * 1_000;
  if (type === 'ping') return timeoutFor((timeout || 10) * 1_000, Math.max(100, everyMs - 5_000));
  return httpTypes.includes(type) ? timeoutFor(timeout > 0 ? timeout * 1_000 : everyMs * 0.8, everyMs) : undefined;
}
