import Database from 'better-sqlite3';

// Columns as the migrations of Uptime Kuma 2 leave them; of version 1 those in `later` are not there yet.
const monitorColumns = `
  id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(150), active BOOLEAN NOT NULL DEFAULT 1, user_id INTEGER,
  interval INTEGER NOT NULL DEFAULT 20, url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000, hostname VARCHAR(255), port INTEGER,
  created_date DATETIME NOT NULL DEFAULT (DATETIME('now')), keyword VARCHAR(255), maxretries INTEGER NOT NULL DEFAULT 0,
  ignore_tls BOOLEAN NOT NULL DEFAULT 0, upside_down BOOLEAN NOT NULL DEFAULT 0, maxredirects INTEGER NOT NULL DEFAULT 10,
  accepted_statuscodes_json TEXT NOT NULL DEFAULT '["200-299"]', dns_resolve_type VARCHAR(5), dns_resolve_server VARCHAR(255),
  dns_last_result VARCHAR(255), retry_interval INTEGER NOT NULL DEFAULT 0, push_token VARCHAR(20) DEFAULT NULL, method TEXT NOT NULL DEFAULT 'GET',
  body TEXT, headers TEXT, basic_auth_user TEXT, basic_auth_pass TEXT, docker_host INTEGER, docker_container VARCHAR(255), proxy_id INTEGER,
  expiry_notification BOOLEAN DEFAULT 1, mqtt_topic TEXT, mqtt_success_message VARCHAR(255),
  mqtt_username VARCHAR(255), mqtt_password VARCHAR(255), database_connection_string VARCHAR(2000), database_query TEXT, auth_method VARCHAR(250),
  resend_interval INTEGER NOT NULL DEFAULT 0, packet_size INTEGER NOT NULL DEFAULT 56, http_body_encoding VARCHAR(25), description TEXT,
  tls_ca TEXT, tls_cert TEXT, tls_key TEXT, parent INTEGER, invert_keyword BOOLEAN NOT NULL DEFAULT 0, json_path TEXT,
  expected_value VARCHAR(255), oauth_client_id TEXT, oauth_client_secret TEXT, oauth_token_url TEXT, oauth_scopes TEXT,
  oauth_auth_method TEXT, timeout DOUBLE NOT NULL DEFAULT 0`;
const later = `,
  json_path_operator VARCHAR(255), cache_bust BOOLEAN NOT NULL DEFAULT 0, conditions TEXT NOT NULL DEFAULT '[]', rabbitmq_nodes TEXT,
  rabbitmq_username VARCHAR(255), rabbitmq_password VARCHAR(255), smtp_security VARCHAR(255), ping_count INTEGER NOT NULL DEFAULT 1,
  ping_per_request_timeout INTEGER NOT NULL DEFAULT 2, ip_family VARCHAR(4), domain_expiry_notification BOOLEAN DEFAULT 0,
  subtype VARCHAR(10), location VARCHAR(255), protocol VARCHAR(20), expected_tls_alert VARCHAR(50), system_service_name VARCHAR(255), bearer_token TEXT, oauth_audience TEXT`;

const otherTables = `
  CREATE TABLE heartbeat (id INTEGER PRIMARY KEY AUTOINCREMENT, important BOOLEAN NOT NULL DEFAULT 0, monitor_id INTEGER NOT NULL,
    status SMALLINT NOT NULL, msg TEXT, time DATETIME NOT NULL, ping INTEGER, duration INTEGER NOT NULL DEFAULT 0, down_count INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE notification (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), active BOOLEAN NOT NULL DEFAULT 1, user_id INTEGER,
    is_default BOOLEAN NOT NULL DEFAULT 0, config TEXT);
  CREATE TABLE monitor_notification (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, notification_id INTEGER NOT NULL);
  CREATE TABLE tag (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL, color VARCHAR(255) NOT NULL);
  CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, tag_id INTEGER NOT NULL, value TEXT);
  CREATE TABLE maintenance (id INTEGER PRIMARY KEY AUTOINCREMENT, title VARCHAR(150) NOT NULL, description TEXT NOT NULL DEFAULT '',
    active BOOLEAN NOT NULL DEFAULT 1, strategy VARCHAR(50) NOT NULL DEFAULT 'single', start_date DATETIME, end_date DATETIME, start_time TIME,
    end_time TIME, weekdays VARCHAR(250) DEFAULT '[]', days_of_month TEXT DEFAULT '[]', interval_day INTEGER, cron TEXT, timezone VARCHAR(255), duration INTEGER);
  CREATE TABLE monitor_maintenance (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, maintenance_id INTEGER NOT NULL);
  CREATE TABLE setting (id INTEGER PRIMARY KEY AUTOINCREMENT, key VARCHAR(200) NOT NULL UNIQUE, value TEXT, type VARCHAR(20));
  CREATE TABLE proxy (id INTEGER PRIMARY KEY AUTOINCREMENT, protocol VARCHAR(10) NOT NULL, host VARCHAR(255) NOT NULL, port INTEGER NOT NULL,
    auth BOOLEAN NOT NULL DEFAULT 0, username VARCHAR(255), password VARCHAR(255), active BOOLEAN NOT NULL DEFAULT 1);
  CREATE TABLE docker_host (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INT NOT NULL, docker_daemon VARCHAR(255), docker_type VARCHAR(255),
    name VARCHAR(255));
  CREATE TABLE status_page (id INTEGER PRIMARY KEY AUTOINCREMENT, slug VARCHAR(255) NOT NULL UNIQUE, title VARCHAR(255) NOT NULL);`;

type Cell = string | number | null;
export type KumaRow = Readonly<Record<string, Cell>>;

/** A database of Uptime Kuma with these rows, by table. */
export function makeKumaDatabase(
  path: string,
  version: 1 | 2,
  tables: Readonly<Record<string, readonly KumaRow[]>>,
): void {
  const database = new Database(path);
  try {
    database.exec(`CREATE TABLE monitor (${monitorColumns}${version === 1 ? '' : later});${otherTables}`);
    for (const [table, rows] of Object.entries(tables)) {
      for (const row of rows) {
        const columns = Object.keys(row);
        const sql = `INSERT INTO "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
        database.prepare(sql).run(Object.values(row));
      }
    }
  } finally {
    database.close();
  }
}
