import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { WebhookBody } from '#channels/webhook-body.ts';
import { renderBody } from '#channels/webhook-template.ts';
import { Secret } from '#kernel/secret.ts';
import { commandHere } from '../../support/command.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-webhook-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const env = { CHANNEL: 'ops', HOOK: 'https://hooks.example.com/x', AUTH: 'Bearer t' };
const at = '2026-01-01T12:00:00.000Z';
const incident = {
  id: 'front/down/1',
  target: 'front',
  rule: 'down',
  severity: 'critical',
  subject: 'http https://shop.example.com/',
  condition: 'most nodes',
  cause: 'it said "no"\\',
  started_at: at,
  opened_at: at,
  ended_at: null,
  closing_votes: null,
} as const;
const opened: WebhookBody = {
  version: 1,
  id: 'x',
  kind: 'opened',
  at,
  subject: '[DOWN] front',
  text: 'front is down.',
  link: null,
  acknowledge: null,
  references: [],
  incidents: [{ ...incident, votes: [], later_causes: [] }],
};
const resolved: WebhookBody = {
  ...opened,
  kind: 'resolved',
  incidents: opened.incidents.map((one) => ({ ...one, ended_at: at })),
};

let count = 0;

/** Imports, checks what came out with `config check`, and gives the entry with a function that renders its template. */
async function imported(source: string, text: string) {
  count += 1;
  const file = join(folder, `${count}.in`);
  await writeFile(file, text);
  const to = join(folder, String(count), 'watchpost.yaml');
  const { code, out, err } = await commandHere(['import', source, file, '--to', to], { env });
  expect([code, err]).toEqual([0, '']);
  const checked = await commandHere(['config', 'check', '--config', to], { env });
  expect([checked.code, checked.err.replaceAll(/^warning: .*\n/gm, '')]).toEqual([0, '']);
  type Entry = Readonly<Record<string, unknown>> & { readonly template_file?: string };
  const { notify = {} } = parse(await readFile(to, 'utf8')) as { notify?: Record<string, { webhook: Entry }> };
  const { webhook } = Object.values(notify)[0] ?? { webhook: null };
  const template = new Secret(
    webhook === null ? '' : await readFile(join(to, '..', webhook.template_file ?? ''), 'utf8'),
  );
  return { out, webhook, render: (body: WebhookBody) => renderBody(template, body) };
}

describe('a webhook of Uptime Kuma', () => {
  const backup = (config: object) =>
    JSON.stringify({
      notificationList: [{ id: 1, name: 'Hook', active: true, config: JSON.stringify({ type: 'webhook', ...config }) }],
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
    });
  const webhookURL = 'https://hooks.example.com/x';

  test('of the usual form posts name, host, state, time and message in the same keys', async () => {
    const { out, webhook, render } = await imported(
      'kuma',
      backup({ webhookURL, webhookContentType: 'json', webhookAdditionalHeaders: '{"Authorization": "Bearer t"}' }),
    );
    expect(webhook).toEqual({
      url_file: 'secrets/webhook-url',
      template_file: 'secrets/webhook-template',
      headers: { Authorization: 'Bearer t' },
    });
    expect(JSON.parse(render(opened))).toEqual({
      heartbeat: { status: 0, msg: incident.cause, time: at },
      monitor: { name: 'front', hostname: 'https://shop.example.com/' },
      msg: `[front] [🔴 Down] ${incident.cause}`,
    });
    expect(JSON.parse(render(resolved))).toMatchObject({
      heartbeat: { status: 1 },
      msg: `[front] [✅ Up] ${incident.cause}`,
    });
    expect(out).toContain('differs: the body of its webhook has only the name, host, state, time and message\n');
  });

  test('with a body of its own keeps it, also where texts stand within quotes', async () => {
    const { webhook, render } = await imported(
      'kuma',
      backup({
        webhookURL,
        webhookContentType: 'custom',
        webhookCustomBody: `{"title": "{{ NAME }}: {{msg}}", "raw": {{ heartbeatJSON['msg'] | json }},
"colour": "{% if status contains "Up" %}green{% else %}red{% endif %}", "of": {{ monitorJSON["name"] | json }}}`,
        webhookAdditionalHeaders: '{"Content-Type": "application/vnd.x+json"}',
      }),
    );
    expect(webhook).toMatchObject({ content_type: 'application/vnd.x+json' });
    expect(JSON.parse(render(opened))).toEqual({
      title: `front: [front] [🔴 Down] ${incident.cause}`,
      raw: incident.cause,
      colour: 'red',
      of: 'front',
    });
    expect(JSON.parse(render(resolved))).toMatchObject({ colour: 'green' });
  });

  test('with a plain text is a plain text', async () => {
    const { webhook, render } = await imported(
      'kuma',
      backup({
        webhookURL,
        webhookContentType: 'custom',
        webhookCustomBody: 'payload={{ hostnameOrURL }} {{ status }}',
      }),
    );
    expect(webhook).toMatchObject({ content_type: 'application/x-www-form-urlencoded' });
    expect(render(opened)).toBe('payload=https://shop.example.com/ 🔴 Down');
  });

  test.each([
    [{ webhookURL, httpMethod: 'get' }, 'a webhook by GET'],
    [{ webhookURL, webhookContentType: 'form-data' }, 'a webhook with a form'],
    [
      { webhookURL, webhookContentType: 'custom', webhookCustomBody: '{{ monitorJSON | json }}' },
      'a webhook whose body names monitorJSON',
    ],
  ])('that cannot be carried over is named: %j', async (config, what) => {
    const { out, webhook } = await imported('kuma', backup(config));
    expect(webhook).toBeNull();
    expect(out).toContain(`lost: ${what}\n`);
  });
});

describe('a custom alert of Gatus', () => {
  const file = (custom: string) => `
alerting: { custom: ${custom} }
endpoints:
  - { name: front, url: "https://shop.example.com/", conditions: ["[STATUS] == 200"], alerts: [{ type: custom, description: "health check failed" }] }
`;

  test('posts the same body, with its own words for the state', async () => {
    const body = JSON.stringify(
      '{"text": "[ALERT_TRIGGERED_OR_RESOLVED]: [ENDPOINT_NAME] - [ALERT_DESCRIPTION] - [RESULT_ERRORS]", "in": "${CHANNEL}", "at": "[ENDPOINT_URL]", "{{": 1}',
    );
    const { webhook, render } = await imported(
      'gatus',
      file(
        `{ url: "\${HOOK}", method: POST, body: ${body}, headers: { Authorization: "\${AUTH}" }, placeholders: { ALERT_TRIGGERED_OR_RESOLVED: { TRIGGERED: partial_outage, RESOLVED: operational } } }`,
      ),
    );
    expect(webhook).toEqual({
      url: '${HOOK}',
      template_file: 'secrets/webhook-template',
      headers: { Authorization: '${AUTH}' },
    });
    expect(JSON.parse(render(opened))).toEqual({
      text: `partial_outage: front - health check failed - ${incident.cause}`,
      in: 'ops',
      at: 'https://shop.example.com/',
      '{{': 1,
    });
    expect(JSON.parse(render(resolved))).toMatchObject({ text: expect.stringMatching(/^operational: front/) });
  });

  test.each([
    ['{ url: "https://hooks.example.com/[ENDPOINT_NAME]", method: POST }', 'placeholders in its address'],
    ['{ url: "https://hooks.example.com/x" }', 'a custom alert by GET'],
    ['{ url: "https://hooks.example.com/x", method: POST, body: "${NOWHERE}" }', 'that is not set now'],
  ])('that cannot be carried over is named: %s', async (custom, what) => {
    const { out, webhook } = await imported('gatus', file(custom));
    expect(webhook).toBeNull();
    expect(out).toContain(what);
  });
});
