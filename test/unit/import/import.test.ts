import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeKumaDatabase } from '../../support/kuma-database.ts';
import { kumaTables } from '../../support/kuma-rows.ts';
import { commandHere } from '../../support/command.ts';

const fixtures = new URL('../../fixtures/import/', import.meta.url).pathname;
const env = { TOKEN: 't0ken', SLACK_URL: 'https://hooks.slack.com/services/T0/B0/y' };
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-import-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Imports, and checks what came out with `config check`. */
async function imported(source: string, files: readonly string[], name: string) {
  const to = join(folder, name, 'watchpost.yaml');
  const { code, out, err } = await commandHere(['import', source, ...files, '--to', to], { env });
  const checked = await commandHere(['config', 'check', '--config', to], { env });
  // Who is to hear of it is not always there to be imported.
  expect(checked.err.replaceAll(/^warning: \d+ targets? ha(?:s|ve) no recipient .*\n/gm, '')).toBe('');
  expect({ code, err, checked: checked.code }).toEqual({ code: 0, err: '', checked: 0 });
  return { to, text: await readFile(to, 'utf8'), list: out.replaceAll(fixtures, '').replaceAll(`${folder}/`, '') };
}

async function fromText(source: string, name: string, text: string) {
  const file = join(folder, `${name}.in`);
  await writeFile(file, text);
  return imported(source, [file], name);
}

test.each([
  { source: 'gatus', files: ['gatus'] },
  { source: 'kuma', files: ['kuma.db'] },
  { source: 'blackbox', files: ['blackbox/prometheus.yml', 'blackbox/blackbox.yml', 'blackbox/alertmanager.yml'] },
])('what $source watches becomes the expected configuration, with the expected list', async ({ source, files }) => {
  if (source === 'kuma') makeKumaDatabase(join(folder, 'kuma.db'), 2, kumaTables);
  const { text, list } = await imported(
    source,
    files.map((file) => join(file === 'kuma.db' ? folder : fixtures, file)),
    source,
  );
  expect(text).toBe(readFileSync(join(fixtures, `${source}.yaml`), 'utf8'));
  expect(list).toBe(readFileSync(join(fixtures, `${source}.txt`), 'utf8'));
});

test('what is written can be read by its owner only, and nothing is overwritten', async () => {
  const { to } = await imported('gatus', [join(fixtures, 'gatus')], 'modes');
  const secret = join(to, '../secrets/smtp-password');
  expect(await readFile(secret, 'utf8')).toBe('pa$word');
  for (const path of [to, secret]) expect((await stat(path)).mode & 0o777).toBe(0o600);
  const again = await commandHere(['import', 'gatus', join(fixtures, 'gatus'), '--to', to], { env });
  expect(again.code).toBe(2);
  expect(again.err).toMatch(/watchpost\.yaml cannot be written: already exists; name another file with --to\n$/);
});

test('a file that is not there, or is no YAML, is named', async () => {
  const gone = await commandHere(['import', 'gatus', join(folder, 'nowhere.yaml'), '--to', join(folder, 'x.yaml')]);
  expect(gone).toMatchObject({
    code: 2,
    err: expect.stringContaining('nowhere.yaml: cannot be read: there is no such file'),
  });
  const broken = join(folder, 'broken.yaml');
  await writeFile(broken, 'endpoints:\n\t- a');
  const ended = await commandHere(['import', 'gatus', broken, '--to', join(folder, 'x.yaml')]);
  expect(ended).toMatchObject({ code: 2, err: expect.stringContaining('broken.yaml:2:1: ') });
});

test('a target that config check would refuse is left out with its reason, and the others stay', async () => {
  const { text, list } = await fromText(
    'gatus',
    'odd',
    `endpoints:
  - { name: good, url: "tcp://127.0.0.1:1", conditions: ["[CONNECTED] == true"] }
  - { name: odd, url: "tcp://127.0.0.1:99999", conditions: ["[CONNECTED] == true"] }
`,
  );
  expect(text).not.toContain('odd:');
  expect(list).toMatch(/^odd\.in:3:5: left out: odd: host: .+$/m);
});

test.each([
  { condition: '[STATUS] != 500', expected: { status: ['100-499', '501-999'] } },
  { condition: '200 == [STATUS]', expected: { status: 200 } },
  { condition: '300 > [STATUS]', expected: { status: '100-299' } },
  {
    condition: '[BODY].items[2].some-key == true',
    json: { path: '$[?($.items[2]["some-key"] == "true" || $.items[2]["some-key"] == true)]' },
  },
  { condition: '[BODY].load == 3', json: { path: '$.load', regex: '^3$' } },
  { condition: '[BODY].level != 3', json: { path: '$[?($.level != "3" && $.level != 3)]' } },
  { condition: '[BODY].name != pat(j?hn*)', json: { path: '$[?!match($.name, "j.hn.*")]' } },
  { condition: 'len([BODY].data) < 5', json: { path: '$[?length($.data) < 5]' } },
  { condition: '[BODY].user == any(a, b)', json: { path: '$[?($.user == "a" || $.user == "b")]' } },
  { condition: '[BODY] == a.b', body: { regex: String.raw`^\s*(?:a\.b)\s*$` } },
  { condition: 'len([BODY]) > 0', body: { regex: String.raw`\S` } },
  { condition: '[CERTIFICATE_EXPIRATION] > 240h', expected: { certificate: { valid_for: '10d' } } },
])('the condition $condition is expected as it was meant', async ({ condition, json, body, expected }) => {
  const name = `condition-${condition.replaceAll(/\W+/g, '-')}`;
  const yaml = `endpoints: [{ name: x, url: "http://127.0.0.1/", conditions: [${JSON.stringify(condition)}] }]\n`;
  const wanted = json === undefined ? body : { json };
  expect(parse((await fromText('gatus', name, yaml)).text)).toMatchObject({
    targets: { x: { expect: { ...(wanted === undefined ? {} : { body: wanted }), ...expected } } },
  });
});

test('a suite becomes a flow', async () => {
  const { text, list } = await fromText(
    'gatus',
    'suites',
    `alerting: { ntfy: { topic: shop } }
suites:
  - name: orders
    group: shop
    interval: 5m
    timeout: 30s
    context: { base: "https://shop.example.com", item-name: "a b", unused: 1 }
    endpoints:
      - name: create
        url: "[CONTEXT].base/items"
        method: POST
        headers: { Content-Type: application/json }
        body: '{"name":"[CONTEXT].item-name"}'
        conditions: ["[STATUS] == 201", "[CONTEXT].unused == 1"]
        store: { item-id: "[BODY].data.id", took: "[RESPONSE_TIME]", page: "[BODY]" }
        alerts: [{ type: ntfy }]
      - { name: off, enabled: false, url: "https://shop.example.com/" }
      - name: remove
        url: "https://shop.example.com/items/[CONTEXT].item-id"
        method: DELETE
        client: { insecure: true }
        conditions: ["[STATUS] < 300", "[BODY].ok == yes"]
        always-run: true
  - { name: mixed, endpoints: [{ name: port, url: "tcp://a.example:25" }] }
  - { name: late, endpoints: [{ name: one, url: "https://a.example/[CONTEXT].id" }] }
  - { name: nowhere, endpoints: [{ name: one, url: "[CONTEXT].id/x" }] }
  - { name: sleeping, enabled: false, endpoints: [{ name: one, url: "https://a.example/" }] }
  - { name: odd, endpoints: 5 }
`,
  );
  const { targets } = parse(text) as { targets: Record<string, unknown> };
  expect(Object.keys(targets)).toEqual(['shop-orders']);
  expect(targets['shop-orders']).toMatchObject({
    check: 'flow',
    host: 'https://shop.example.com',
    timeout: '30s',
    every: '5m',
    values: { item_name: 'a b' },
    tls: { verify: false },
    steps: [
      {
        name: 'create',
        url: 'https://shop.example.com/items',
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"name":"{{item_name}}"}',
        redirects: 5,
        expect: { status: 201 },
        capture: { item_id: { json: '$.data.id' }, page: { regex: '(?s)^.*$' } },
      },
      {
        name: 'remove',
        url: 'https://shop.example.com/items/{{item_id}}',
        method: 'DELETE',
        expect: { status: '100-299', body: { json: { path: '$.ok' } } },
      },
    ],
  });
  expect(list.split('\n').map((line) => line.replace(/^\S+ /, ''))).toEqual(
    expect.arrayContaining([
      expect.stringContaining('lost: shop/orders: the condition [CONTEXT].unused == 1: there is no such expectation'),
      expect.stringContaining('lost: shop/orders: took: only values of [BODY] can be captured'),
      expect.stringContaining('lost: shop/orders: remove is not sent after a step that failed'),
      expect.stringContaining('differs: shop/orders: no certificate is verified, as for one of its endpoints'),
      expect.stringContaining('left out: mixed: port: only http requests can be steps'),
      expect.stringContaining('left out: late: one: {{id}} is not known by then'),
      expect.stringContaining('left out: nowhere: one: there is no check for {{id}}/x'),
      expect.stringContaining('left out: sleeping: it is not enabled'),
      expect.stringContaining('left out: a suite that cannot be read: endpoints'),
    ]),
  );
});

test('conditions on the expiry of domains become a target for each domain, told of to all who wanted to know', async () => {
  const { text, list } = await fromText(
    'gatus',
    'domains',
    `alerting: { ntfy: { topic: shop }, opsgenie: { api-key: abc } }
endpoints:
  - { name: www, url: "https://www.example.co.uk/", conditions: ["[DOMAIN_EXPIRATION] > 720h"], alerts: [{ type: ntfy }] }
  - { name: mail, url: "tcp://mail.example.co.uk:25", conditions: ["[DOMAIN_EXPIRATION] >= 240h"], alerts: [{ type: opsgenie }] }
  - { name: far, url: "https://example.com", conditions: ["[DOMAIN_EXPIRATION] > 1h"] }
  - { name: inside, url: "https://shop.internal", conditions: ["[DOMAIN_EXPIRATION] > 720h"] }
  - { name: ended, url: "https://example.com", conditions: ["[DOMAIN_EXPIRATION] < 720h"] }
`,
  );
  const { targets, rules } = parse(text) as { targets: Record<string, { rules?: unknown }>; rules: unknown };
  expect(targets['domain-example-co-uk']).toEqual({
    check: 'domain',
    host: 'example.co.uk',
    every: '1h',
    rules: ['down', 'domain-30d'],
    notify: ['ntfy', 'opsgenie'],
  });
  expect(targets['domain-example-com']).toMatchObject({ host: 'example.com', rules: ['down', 'domain-1d'] });
  expect(Object.keys(targets)).toHaveLength(7);
  expect(rules).toMatchObject({
    'domain-30d': { domain: { expires_within: '30d' } },
    'domain-1d': { domain: { expires_within: '1d' } },
  });
  expect(targets['www']?.rules).toBeUndefined();
  const own = list.split('\n').filter((line) => /\bdomain\b|DOMAIN/.test(line) && line.startsWith('domains.in'));
  expect(own).toEqual([
    'domains.in:6:64: lost: inside: the condition [DOMAIN_EXPIRATION] > 720h: no domain in its address is registered with a registry',
    'domains.in:7:61: lost: ended: the condition [DOMAIN_EXPIRATION] < 720h: a domain can only be asked to last longer',
    'domains.in:3:66: differs: www: its domain is a separate target, domain-example-co-uk, and not part of being up',
    'domains.in:4:68: differs: mail: its domain is a separate target, domain-example-co-uk, and not part of being up',
    'domains.in:5:59: differs: far: its domain is a separate target, domain-example-com, and not part of being up',
    'domains.in:1:1: differs: everywhere: a domain whose registry has neither RDAP nor WHOIS is notified once as UNKNOWN',
  ]);
});

test('monitors of Uptime Kuma that tell of the end of their domains become a target for each domain', async () => {
  const monitor = { interval: 60, active: true, domainExpiryNotification: true, maxretries: 2 };
  const { text, list } = await fromText(
    'kuma',
    'kuma-domains',
    JSON.stringify({
      notificationList: [],
      monitorList: [
        { id: 1, name: 'Web', type: 'http', url: 'https://www.example.com/', ...monitor },
        { id: 2, name: 'Port', type: 'port', hostname: 'mail.example.com', port: 25, ...monitor },
        { id: 3, name: 'Inside', type: 'ping', hostname: 'nas.lan', ...monitor },
        { id: 4, name: 'Address', type: 'ping', hostname: '127.0.0.1', ...monitor },
        { id: 5, name: 'Other', type: 'ping', hostname: 'example.org', ...monitor, domainExpiryNotification: false },
      ],
    }),
  );
  const { targets, rules } = parse(text) as { targets: Record<string, unknown>; rules: unknown };
  expect(Object.keys(targets)).toEqual(['web', 'port', 'inside', 'address', 'other', 'domain-example-com']);
  expect(targets['domain-example-com']).toEqual({
    check: 'domain',
    host: 'example.com',
    every: '1h',
    rules: ['down-1', 'domain-21d'],
    notify: [],
  });
  expect(rules).toMatchObject({ 'domain-21d': { domain: { expires_within: '21d' } } });
  expect(list).toContain(
    'kuma-domains.in monitor 2: differs: Port: its domain is a separate target, domain-example-com, and not part of being up',
  );
});

test('a database of Uptime Kuma 1 is imported with its results, which can be left behind', async () => {
  const { monitor = [], heartbeat = [] } = kumaTables;
  const old = monitor.filter(({ id }) => [2, 3, 9, 10, 16].includes(Number(id)));
  const path = join(folder, 'old.db');
  makeKumaDatabase(path, 1, { monitor: old, heartbeat });
  const { to, list } = await imported('kuma', [path], 'old-kuma');
  expect(list).toContain('6 results of before');
  const database = new Database(join(to, '../data/watchpost.db'), { readonly: true });
  const rows = database.prepare('SELECT at, target, status, seconds, code FROM history').raw().all();
  database.close();
  expect(rows).toEqual([
    ['2026-11-20T10:00:00.123Z', 'front', 'up', 0.041, null],
    ['2026-11-20T10:01:00.130Z', 'front', 'down', null, 'refused'],
    ['2026-11-20T10:02:00.131Z', 'front', 'down', null, 'timeout'],
    ['2026-11-20T10:04:00.131Z', 'front', 'up', 0.038, null],
    ['2026-11-20T10:05:00.000Z', 'members', 'down', null, 'status'],
    ['2026-11-20T10:06:00.000Z', 'members', 'unknown', null, 'name_server'],
  ]);
  const bare = join(folder, 'bare', 'watchpost.yaml');
  const without = await commandHere(['import', 'kuma', path, '--no-history', '--to', bare]);
  expect(without.out).not.toContain('results');
  expect(parse(await readFile(bare, 'utf8'))).not.toHaveProperty('retention');
});

const account = 'AC0123456789abcdef0123456789abcdef';

test.each([
  {
    config: { type: 'mattermost', mattermostWebhookUrl: 'https://chat.example.com/hooks/x' },
    entry: { mattermost: { url_file: 'secrets/mattermost-url' } },
  },
  {
    config: { type: 'rocket.chat', rocketwebhookURL: 'https://rocket.example.com/hooks/x/y' },
    entry: { rocketchat: { url_file: 'secrets/rocketchat-url' } },
  },
  {
    config: { type: 'GoogleChat', googleChatWebhookURL: 'https://chat.googleapis.com/v1/spaces/A/messages?key=x' },
    entry: { googlechat: { url_file: 'secrets/googlechat-url' } },
  },
  {
    config: { type: 'Splunk', splunkRestURL: 'https://alert.victorops.com/integrations/generic/20131114/alert/x/ops' },
    entry: { splunkoncall: { url_file: 'secrets/splunkoncall-url' } },
  },
  {
    config: { type: 'gotify', gotifyserverurl: 'https://gotify.example.com/', gotifyapplicationToken: 'x' },
    entry: { gotify: { url: 'https://gotify.example.com', token_file: 'secrets/gotify-secret' } },
  },
  {
    config: {
      type: 'pushover',
      pushoverapptoken: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi',
      pushoveruserkey: 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG',
    },
    entry: { pushover: { token_file: 'secrets/pushover-secret', user_file: 'secrets/pushover-user' } },
  },
  {
    config: {
      type: 'signal',
      signalURL: 'http://127.0.0.1:8080/v2/send',
      signalNumber: '+15017122661',
      signalRecipients: '+15558675310, group.YWJj=',
    },
    entry: {
      signal: { url: 'http://127.0.0.1:8080', number: '+15017122661', recipients: ['+15558675310', 'group.YWJj='] },
    },
  },
  {
    config: {
      type: 'twilio',
      twilioAccountSID: account,
      twilioApiKey: account.replace('AC', 'SK'),
      twilioAuthToken: 'x',
      twilioFromNumber: '+15017122661',
      twilioToNumber: '+15558675310',
    },
    entry: {
      twilio: {
        account,
        key: account.replace('AC', 'SK'),
        token_file: 'secrets/twilio-secret',
        from: '+15017122661',
        to: '+15558675310',
      },
    },
  },
])('notifications of Uptime Kuma by $config.type reach the same people', async ({ config, entry }) => {
  const backup = {
    version: '1.23.16',
    notificationList: [{ id: 1, name: 'Ops', active: true, config: JSON.stringify(config) }],
    monitorList: [
      {
        id: 4,
        name: 'Front',
        type: 'http',
        active: true,
        url: 'https://shop.example.com/',
        interval: 60,
        notificationIDList: { 1: true },
      },
    ],
  };
  const { text } = await fromText('kuma', `kuma-${config.type}`, JSON.stringify(backup));
  expect(parse(text)).toMatchObject({ notify: { ops: entry }, targets: { front: { notify: ['ops'] } } });
});

test('a JSON backup of Uptime Kuma is imported like its database', async () => {
  const backup = {
    version: '1.23.16',
    notificationList: [
      { id: 1, name: 'Mail', active: true, config: String(kumaTables['notification']?.[0]?.['config']) },
    ],
    monitorList: [
      { id: 1, name: 'Group', type: 'group', active: true },
      {
        id: 4,
        name: 'Front',
        type: 'keyword',
        active: true,
        parent: 1,
        url: 'https://shop.example.com/',
        interval: 60,
        retryInterval: 20,
        maxretries: 1,
        timeout: 30,
        keyword: 'Blog',
        invertKeyword: true,
        ignoreTls: true,
        expiryNotification: true,
        upsideDown: false,
        accepted_statuscodes: ['200-299', '404'],
        notificationIDList: { 1: true },
        tags: [{ tag_id: 1, name: 'team', value: 'web', color: '#fff' }],
        authMethod: 'basic',
        basic_auth_user: 'ops',
        basic_auth_pass: 'hunter2',
      },
      { id: 5, name: 'Asleep', type: 'http', active: false, url: 'https://shop.example.com/', interval: 60 },
    ],
  };
  const { text, list } = await fromText('kuma', 'backup', JSON.stringify(backup));
  expect(parse(text)).toMatchObject({
    targets: {
      front: {
        check: 'http',
        host: 'https://shop.example.com/',
        timeout: '30s',
        every: '1m',
        tls: { verify: false },
        basic_auth: { username: 'ops', password: 'hunter2' },
        expect: { status: ['200-299', 404], body: { not_contains: 'Blog' } },
        rules: ['down', 'certificate'],
        notify: ['mail'],
        labels: { group: 'Group', team: 'web' },
      },
    },
    rules: { down: { rounds: 2, recover: 1, confirm: true } },
    smtp: { url: 'smtps://mail.example.com', password_file: 'secrets/smtp-password' },
    notify: { mail: { email: { to: ['ops@example.com', 'night@example.com'] } } },
  });
  expect(list).toContain('backup.in monitor 5: left out: Asleep: it is paused\n');
});

test.each([
  { text: 'SQLite format 3\0 and then nothing', says: /cannot be read as a database/ },
  { text: '{"targets":[]}', says: /is not a backup of Uptime Kuma: it has no monitorList/ },
  { text: 'monitors:', says: /cannot be read: it is not JSON/ },
])('a file that Kuma did not write is refused: $says', async ({ text, says }) => {
  const path = join(folder, 'other.db');
  await writeFile(path, text);
  const { code, err } = await commandHere(['import', 'kuma', path, '--to', join(folder, 'other.yaml')]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(says) });
});

const modules = 'modules: { tcp: { prober: tcp } }\n';
const jobs = (interval: string) => `scrape_configs:
  - job_name: ports
    metrics_path: /probe
    scrape_interval: ${interval}
    params: { module: [tcp] }
    static_configs: [{ targets: ["127.0.0.1:1"] }]
    relabel_configs: [{ source_labels: [__address__], target_label: __param_target }]
`;

async function fromRule(name: string, expr: string, more = '', interval = '1m') {
  const files = [
    modules,
    jobs(interval),
    `groups: [{ name: a, rules: [{ alert: Bad, expr: ${JSON.stringify(expr)}${more} }] }]`,
  ];
  const paths = files.map((_, index) => join(folder, `${name}-${index}.yml`));
  for (const [index, text] of files.entries()) await writeFile(paths[index] ?? '', text);
  const { text, list } = await imported('blackbox', paths, name);
  return { file: parse(text) as { rules?: Record<string, unknown> }, list };
}

test.each([
  { expr: 'probe_success == 0', rule: { failing: 'majority', rounds: 1 } },
  { expr: '0 == probe_success', more: ', for: 3m', rule: { failing: 'majority', rounds: 4 } },
  { expr: 'probe_success != 1', more: ', for: 3m', interval: '30s', rule: { rounds: 7 } },
  { expr: 'avg_over_time(probe_success[10m]) * 100 < 80', rule: { rounds: '2 of 10' } },
  { expr: 'max_over_time(probe_success[5m]) == 0', rule: { rounds: 6 } },
  { expr: 'probe_duration_seconds > 0.25', rule: { latency: { above: '250ms', statistic: 'last' } } },
  {
    expr: '2 < max_over_time(probe_duration_seconds[5m])',
    rule: { latency: { above: '2s', statistic: 'max', window: '5m' } },
  },
])('the alert $expr becomes a rule', async ({ expr, more, interval, rule }) => {
  const { file } = await fromRule(`alert-${expr.replaceAll(/\W+/g, '-')}`, expr, more, interval);
  expect(Object.values(file.rules ?? {})).toMatchObject([rule]);
});

test.each([
  { expr: 'probe_success{job="others"} == 0', line: null },
  { expr: 'probe_ip_protocol == 6', line: 'alert Bad: probe_ip_protocol == 6' },
  { expr: 'absent(probe_success)', line: 'alert Bad: absent(probe_success)' },
  { expr: 'probe_success == 0 unless on() vector(1)', line: 'alert Bad: probe_success == 0 unless on() vector(1)' },
])('the alert $expr becomes none', async ({ expr, line }) => {
  const { file, list } = await fromRule(`none-${expr.replaceAll(/\W+/g, '-')}`, expr);
  expect(file.rules).toBeUndefined();
  if (line !== null) expect(list).toContain(`lost: ${line}\n`);
});

test.each([
  {
    module: 'prober: dns, dns: { query_name: a.example, query_type: A, dns_over_tls: true, transport_protocol: tcp }',
    keys: { check: 'dns', host: 'a.example', resolver: '127.0.0.1:1', protocol: 'tls' },
  },
  {
    module:
      'prober: dns, dns: { query_name: a.example, query_type: A, dns_over_tls: true, tls_config: { server_name: dns.example, insecure_skip_verify: true } }',
    keys: { protocol: 'tls', tls: { verify: false, server_name: 'dns.example' } },
  },
  {
    module: 'prober: icmp, icmp: { dont_fragment: true, ttl: 9 }',
    keys: { check: 'ping', dont_fragment: true, ttl: 9 },
  },
  { module: 'prober: icmp, icmp: { ttl: 0 }', keys: { check: 'ping', count: 1 } },
  {
    module: 'prober: http, http: { proxy_url: "http://proxy.example:3128/", skip_resolve_phase_with_proxy: true }',
    keys: { check: 'http', proxy: { url: 'http://proxy.example:3128' } },
  },
  {
    module:
      'prober: http, http: { oauth2: { client_id: a, client_secret: "b$b", token_url: "https://login.example/token", endpoint_params: { audience: shop } } }',
    keys: {
      oauth2: { token_url: 'https://login.example/token', client_id: 'a', client_secret: 'b$b', audience: 'shop' },
    },
    says: 'differs: module tcp: id and secret are sent to a token endpoint in a header',
  },
])('the module { $module } becomes a check', async ({ module, keys, says = '' }) => {
  const { file, list } = await fromModule(module);
  expect(file.targets).toMatchObject({ 'ports-127-0-0-1-1': keys });
  expect(list).toContain(says);
});

test.each([
  { http: 'proxy_url: "socks4://proxy.example"', says: 'its proxy speaks neither HTTP nor SOCKS 5' },
  { http: 'proxy_url: "http://a.example:3128", no_proxy: b.example', says: 'its module has no_proxy' },
  { http: 'oauth2: { client_id: a, client_secret_file: b, token_url: "https://c.example" }', says: 'or in a file' },
  {
    http: 'oauth2: { client_id: a, client_secret: b, token_url: "https://c.example", endpoint_params: { tenant: d } }',
    says: 'its module sends tenant to a token endpoint, which no check can do',
  },
])('a module of the prober http with { $http } is left out', async ({ http, says }) => {
  const paths = [join(folder, 'out-modules.yml'), join(folder, 'out-prometheus.yml')];
  await writeFile(paths[0] ?? '', `modules: { tcp: { prober: tcp }, web: { prober: http, http: { ${http} } } }\n`);
  const [before = '', after = ''] = jobs('1m').split('["127.0.0.1:1"] }]');
  const byLabel = `${before}["127.0.0.1:1"] }, { targets: ["127.0.0.1:2"], labels: { __param_module: web } }]${after}`;
  await writeFile(paths[1] ?? '', byLabel);
  const { list } = await imported('blackbox', paths, `out-${http.replaceAll(/\W+/g, '-')}`);
  expect(list).toMatch(new RegExp(`left out: .*${says}`));
});

async function fromModule(module: string) {
  const name = `module-${module.replaceAll(/\W+/g, '-').slice(0, 150)}`;
  const paths = [join(folder, `${name}.yml`), join(folder, `${name}-jobs.yml`)];
  await writeFile(paths[0] ?? '', `modules: { tcp: { ${module} } }\n`);
  await writeFile(paths[1] ?? '', jobs('1m'));
  const { text, list } = await imported('blackbox', paths, name);
  return { file: parse(text) as { targets?: Record<string, unknown> }, list };
}

test('a file that belongs to none of these programs, and one that is missing, are named', async () => {
  const path = join(folder, 'some.yml');
  await writeFile(path, 'a: 1');
  const odd = await commandHere(['import', 'blackbox', path, '--to', join(folder, 'odd.yaml')]);
  expect(odd.err).toMatch(/some\.yml has neither modules, scrape_configs, groups of rules nor a route\n$/);
  await writeFile(path, modules);
  const alone = await commandHere(['import', 'blackbox', path, '--to', join(folder, 'odd.yaml')]);
  expect(alone.err).toMatch(/^the configuration of Prometheus is missing/);
});

const key = '0123456789abcdef0123456789abcdef';

test.each([
  {
    provider: 'slack: { webhook-url: "https://hooks.slack.com/x" }',
    entry: { slack: { url_file: 'secrets/slack-url' } },
  },
  {
    provider: 'discord: { webhook-url: "https://discord.com/api/webhooks/1/x" }',
    entry: { discord: { url_file: 'secrets/discord-url' } },
  },
  {
    provider: 'teams-workflows: { webhook-url: "https://x.example.com" }',
    entry: { teams: { url_file: 'secrets/teams-url' } },
  },
  {
    provider: 'telegram: { token: "123456:ABCDEFGHIJKLMNOPQRSTUV", id: -100123, topic-id: 4 }',
    entry: { telegram: { token_file: 'secrets/telegram-secret', chat: '-100123', thread: 4 } },
  },
  {
    provider: `pagerduty: { integration-key: ${key} }`,
    entry: { pagerduty: { routing_key_file: 'secrets/pagerduty-secret' } },
  },
  { provider: 'opsgenie: { api-key: abc }', entry: { opsgenie: { api_key_file: 'secrets/opsgenie-secret' } } },
  {
    provider: 'matrix: { server-url: "https://m.example.com", access-token: x, internal-room-id: "!a:example.com" }',
    entry: {
      matrix: { homeserver: 'https://m.example.com', room: '!a:example.com', token_file: 'secrets/matrix-secret' },
    },
  },
  {
    provider: 'mattermost: { webhook-url: "https://chat.example.com/hooks/x" }',
    entry: { mattermost: { url_file: 'secrets/mattermost-url' } },
  },
  {
    provider: 'rocketchat: { webhook-url: "https://rocket.example.com/hooks/x/y" }',
    entry: { rocketchat: { url_file: 'secrets/rocketchat-url' } },
  },
  {
    provider: 'googlechat: { webhook-url: "https://chat.googleapis.com/v1/spaces/A/messages?key=x" }',
    entry: { googlechat: { url_file: 'secrets/googlechat-url' } },
  },
  {
    provider: 'gotify: { server-url: "https://gotify.example.com/", token: x }',
    entry: { gotify: { url: 'https://gotify.example.com', token_file: 'secrets/gotify-secret' } },
  },
  {
    provider:
      'pushover: { application-token: azGDORePK8gMaC0QOYAMyEEuzJnyUi, user-key: uQiRzpo4DXghDmr9QzzfQu27cmVRsG, device: phone }',
    entry: {
      pushover: { token_file: 'secrets/pushover-secret', user_file: 'secrets/pushover-user', device: 'phone' },
    },
  },
  {
    provider:
      'zulip: { bot-email: bot@example.com, bot-api-key: x, domain: example.zulipchat.com, channel-id: "12", topic: ops }',
    entry: {
      zulip: {
        url: 'https://example.zulipchat.com',
        bot: 'bot@example.com',
        api_key_file: 'secrets/zulip-secret',
        stream: '12',
        topic: 'ops',
      },
    },
  },
  {
    provider: 'signal: { api-url: "http://127.0.0.1:8080", number: "+15017122661", recipients: ["+15558675310"] }',
    entry: { signal: { url: 'http://127.0.0.1:8080', number: '+15017122661', recipients: ['+15558675310'] } },
  },
  {
    provider: `twilio: { sid: AC${key}, token: x, from: "+15017122661", to: "+15558675310" }`,
    entry: {
      twilio: {
        account: `AC${key}`,
        token_file: 'secrets/twilio-secret',
        from: '+15017122661',
        to: '+15558675310',
      },
    },
  },
  {
    provider: 'ntfy: { topic: shop, token: "${TOKEN}" }',
    entry: { ntfy: { topic: 'shop', token_file: 'secrets/ntfy-secret' } },
  },
])('alerts by $provider reach the same people', async ({ provider, entry }) => {
  const [type = ''] = provider.split(':');
  const yaml = `alerting: { ${provider} }
endpoints: [{ name: x, url: "tcp://127.0.0.1:1", conditions: ["[CONNECTED] == true"], alerts: [{ type: ${type} }] }]
`;
  const { text, to } = await fromText('gatus', `provider-${type}`, yaml);
  expect(parse(text)).toMatchObject({
    notify: { [type]: { ...entry, remind: [] } },
    targets: { x: { notify: [type] } },
  });
  if (type === 'ntfy') expect(await readFile(join(to, '../secrets/ntfy-secret'), 'utf8')).toBe('t0ken');
});

test.each([
  { provider: 'pagerduty: { integration-key: "********************************" }' },
  { provider: 'slack: { webhook-url: "no address" }' },
  { provider: 'opsgenie: { api-key: "${NOWHERE}" }' },
  { provider: 'pushover: { application-token: azGDORePK8gMaC0QOYAMyEEuzJnyUi, user-key: "${NOWHERE}" }' },
  { provider: 'signal: { api-url: "http://127.0.0.1:8080", number: "+15017122661", recipients: [me] }' },
  { provider: 'twilio: { sid: AC1, token: x, from: "+15017122661", to: "+15558675310" }' },
])('alerts by $provider cannot be carried over, and the target that nobody hears of is named', async ({ provider }) => {
  const [type = ''] = provider.split(':');
  const yaml = `alerting: { ${provider} }
endpoints: [{ name: x, url: "tcp://127.0.0.1:1", conditions: ["[CONNECTED] == true"], alerts: [{ type: ${type} }] }]
`;
  const { list, text } = await fromText('gatus', `lost-${type}`, yaml);
  expect(list).toContain(`lost: alerts by ${type} cannot be carried over\n`);
  expect(list).toContain(`lost: x: it has no recipients here: it has alerts by ${type} only\n`);
  expect(parse(text)).not.toHaveProperty('notify');
});

test('an Alertmanager that Prometheus knows goes on routing where its own configuration is not given', async () => {
  const paths = [join(folder, 'am-modules.yml'), join(folder, 'am-prometheus.yml')];
  await writeFile(paths[0] ?? '', modules);
  const alerting =
    'alerting: { alertmanagers: [{ scheme: https, path_prefix: /am/, static_configs: [{ targets: ["127.0.0.1:9093"] }] }] }\n';
  await writeFile(paths[1] ?? '', alerting + jobs('1m'));
  expect(parse((await imported('blackbox', paths, 'with-alertmanager')).text)).toMatchObject({
    notify: { alertmanager: { alertmanager: { urls: ['https://127.0.0.1:9093/am'] } } },
  });
});
