import { z } from 'zod';
import { parseJson } from '#kernel/json.ts';

// One shape for the rows of the database and the objects of the backup, whose keys become those of the columns first.

const nothing = (value: unknown) => (value === null || value === '' ? undefined : value);
const text = z.preprocess(nothing, z.union([z.string(), z.number(), z.boolean()]).transform(String).optional());
const count = (otherwise: number) => z.preprocess(nothing, z.coerce.number().default(otherwise));
const flag = (otherwise: boolean) =>
  z.preprocess(nothing, z.union([z.boolean(), z.number(), z.string()]).transform(truthOf).default(otherwise));
const truthOf = (value: string | number | boolean) =>
  value === true || value === 1 || value === '1' || value === 'true';

/** A list that may be written as JSON. */
const list = <Entry extends z.ZodType>(entry: Entry) =>
  z.preprocess((value) => parsed(value) ?? [], z.array(entry).catch([]));

/** What JSON in a text says; anything else as it is. */
export function parsed(value: unknown): unknown {
  return typeof value === 'string' ? parseJson(value) : (value ?? undefined);
}

export const KumaMonitor = z.looseObject({
  id: z.int(),
  name: text,
  type: text,
  active: flag(true),
  parent: z.preprocess(nothing, z.int().optional()),
  interval: count(60),
  retry_interval: count(0),
  maxretries: count(0),
  resend_interval: count(0),
  timeout: count(0),
  upside_down: flag(false),
  url: text,
  hostname: text,
  port: text,
  method: text,
  headers: text,
  body: text,
  http_body_encoding: text,
  keyword: text,
  invert_keyword: flag(false),
  ignore_tls: flag(false),
  expiry_notification: flag(false),
  domain_expiry_notification: flag(false),
  maxredirects: count(10),
  accepted_statuscodes: list(z.string()),
  auth_method: text,
  basic_auth_user: text,
  basic_auth_pass: text,
  bearer_token: text,
  push_token: text,
  tls_ca: text,
  tls_cert: text,
  tls_key: text,
  proxy_id: text,
  oauth_token_url: text,
  oauth_client_id: text,
  oauth_client_secret: text,
  oauth_scopes: text,
  oauth_audience: text,
  oauth_auth_method: text,
  json_path: text,
  json_path_operator: text,
  expected_value: text,
  dns_resolve_type: text,
  dns_resolve_server: text,
  conditions: list(z.looseObject({ type: text, variable: text, operator: text, value: text, andOr: text })),
  packet_size: count(56),
  ping_count: count(1),
  ip_family: text,
  smtp_security: text,
  expected_tls_alert: text,
  ws_subprotocol: text,
  ws_ignore_sec_websocket_accept_header: flag(false),
  database_connection_string: text,
  database_query: text,
  mqtt_topic: text,
  mqtt_username: text,
  mqtt_password: text,
  mqtt_success_message: text,
  mqtt_check_type: text,
  rabbitmq_nodes: list(z.string()),
  rabbitmq_username: text,
  rabbitmq_password: text,
  subtype: text,
  docker_host: text,
  docker_container: text,
  system_service_name: text,
  tags: z.array(z.looseObject({ name: z.string(), value: text })).default([]),
  notifications: z.array(z.int()).default([]),
});
export type KumaMonitor = z.output<typeof KumaMonitor>;

export const Notification = z.looseObject({ id: z.int(), name: text, active: flag(true), config: text });
export type Notification = z.output<typeof Notification>;

export const KumaProxy = z.looseObject({
  id: z.coerce.string(),
  active: flag(true),
  protocol: text,
  host: text,
  port: text,
  auth: flag(false),
  username: text,
  password: text,
});
export type KumaProxy = z.output<typeof KumaProxy>;

/** Where containers are: a socket, or an address over TCP. */
export const KumaEngine = z.looseObject({
  id: z.coerce.string(),
  docker_type: text,
  docker_daemon: text,
});
export type KumaEngine = z.output<typeof KumaEngine>;

export const KumaMaintenance = z.looseObject({
  id: z.int(),
  title: text,
  active: flag(true),
  strategy: z.string(),
  start_date: text,
  end_date: text,
  start_time: text,
  end_time: text,
  weekdays: list(z.int()),
  days_of_month: list(z.union([z.int(), z.string()])),
  interval_day: count(1),
  cron: text,
  timezone: text,
  duration: count(0),
  monitors: z.array(z.int()).default([]),
});
export type KumaMaintenance = z.output<typeof KumaMaintenance>;

/** One result. Times are milliseconds since the epoch. */
export interface KumaBeat {
  readonly at: number;
  readonly monitor: number;
  /** As Kuma counts: 0 down, 1 up, 2 to be tried again. */
  readonly status: number;
  readonly pingMs: number | null;
  readonly message: string;
}

/** Everything that is read of Kuma. */
export interface KumaData {
  /** What notes call the source. */
  readonly place: string;
  readonly monitors: readonly KumaMonitor[];
  readonly notifications: readonly Notification[];
  readonly maintenance: readonly KumaMaintenance[];
  readonly settings: ReadonlyMap<string, string>;
  /** Those that are switched on, by id. */
  readonly proxies: ReadonlyMap<string, KumaProxy>;
  /** Where containers are, by id; null if the source does not say. */
  readonly engines: ReadonlyMap<string, KumaEngine> | null;
  /** How many rows there are of what has no counterpart. */
  readonly others: ReadonlyMap<string, number>;
  /** Results from the oldest on, if there are any. */
  readonly beats: (() => Iterable<KumaBeat>) | null;
}
