import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deliveryRoutes } from '#web/deliveries.ts';
import { serveWeb } from '../../support/web.ts';
import { commandHere } from '../../support/command.ts';
import { delivery } from '../../support/incidents.ts';
import { startSink } from '../../support/http-sink.ts';
import { startSmtp } from '../../support/smtp.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(config: string, ...args: readonly string[]) {
  const path = join(folder, 'watchpost.yaml');
  writeFileSync(path, `${config}\ntargets: { shop: { check: tcp, host: "127.0.0.1:1" } }\n`);
  const { code, out, err } = await commandHere([...args, '--config', path], { cwd: folder });
  return { code, printed: out, failed: err };
}

const notify = 'notify: { ops: { email: { to: [ops@example.com] } }, boss: { email: { to: [boss@example.com] } } }';

describe('alert test', () => {
  test('sends a sample of each kind, marked as one, and says what the server answered', async () => {
    await using sink = await startSmtp();
    const smtp = `smtp: { url: "smtp://127.0.0.1:${sink.port}", from: alerts@example.com }`;
    const { code, printed } = await run(`${smtp}\n${notify}`, 'alert', 'test', 'ops');
    expect(code).toBe(0);
    const lines = printed.trim().split('\n');
    const kinds = ['opened', 'update', 'reminder', 'resolved', 'closed', 'late', 'digest'];
    expect(lines).toEqual(
      kinds.map((kind) => expect.stringMatching(`^ops  email ops@example.com  ${kind}  accepted: 250`)),
    );
    expect(sink.received.map(({ recipient }) => recipient)).toEqual(kinds.map(() => 'ops@example.com'));
    for (const { mail } of sink.received) {
      expect(mail.subject).toMatch(/^\[TEST\] /);
      expect(mail.text).toContain('This is a sample: nothing has happened.');
    }
    expect(new Set(sink.received.map(({ mail }) => mail.messageId)).size).toBe(kinds.length);
  });

  test('sends to everybody where nobody is named, and one kind only where one is', async () => {
    await using sink = await startSmtp();
    const smtp = `smtp: { url: "smtp://127.0.0.1:${sink.port}", from: alerts@example.com }`;
    expect(await run(`${smtp}\n${notify}`, 'alert', 'test', '--kind', 'opened')).toMatchObject({ code: 0 });
    expect(sink.received.map(({ recipient }) => recipient)).toEqual(['ops@example.com', 'boss@example.com']);
  });

  test('ends the alert that it opened at a receiver that would keep it', async () => {
    await using sink = await startSink(() => ({ status: 202, body: '{"status":"success"}' }));
    writeFileSync(join(folder, 'key'), '0123456789abcdef0123456789abcdef\n', { mode: 0o600 });
    const pager = `notify: { pager: { pagerduty: { routing_key_file: ${join(folder, 'key')}, url: "${sink.origin}" } } }`;
    const { code, printed } = await run(pager, 'alert', 'test', '--kind', 'opened');
    expect(code).toBe(0);
    expect(printed.match(/pager {2}\w+ {2}accepted/g)).toEqual([
      'pager  opened  accepted',
      'pager  resolved  accepted',
    ]);
    expect(sink.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { event_action: 'trigger', dedup_key: 'sample/down/0', payload: { summary: expect.stringMatching(/^\[TEST\]/) } },
      { event_action: 'resolve', dedup_key: 'sample/down/0' },
    ]);
  });

  test('says why a server takes nothing, with exit code 1', async () => {
    const smtp = 'smtp: { url: "smtp://127.0.0.1:1", from: alerts@example.com }';
    const { code, printed } = await run(`${smtp}\n${notify}`, 'alert', 'test', 'ops', '--kind', 'opened');
    expect(code).toBe(1);
    expect(printed).toMatch(/opened {2}not accepted \(it would be tried again\): 127\.0\.0\.1:1: .*ECONNREFUSED/);
  });

  test('a kind that is none is an error with those that are', async () => {
    const { code, failed, printed } = await run(notify, 'alert', 'test', 'ops', '--kind', 'nosuch');
    expect([code, printed]).toEqual([2, '']);
    expect(failed).toContain(
      '--kind: there is no kind of message "nosuch"; there is opened, update, reminder, resolved',
    );
  });

  test('writes files where there is no mail server', async () => {
    const config = `data: ${join(folder, 'watchpost.db')}\n${notify}`;
    expect(await run(config, 'alert', 'test', 'ops', '--kind', 'late')).toMatchObject({ code: 0 });
    expect(readdirSync(join(folder, 'mail'))).toHaveLength(1);
  });

  test('uses the template of the configuration, and refuses one that cannot be used', async () => {
    await using sink = await startSmtp();
    const smtp = `smtp: { url: "smtp://127.0.0.1:${sink.port}", from: alerts@example.com }`;
    const config = `${smtp}\ntemplates: { mail: own.liquid }\n${notify}`;
    writeFileSync(
      join(folder, 'own.liquid'),
      '{% if part == "html" %}<b>{{ headline }}</b>{% else %}Ours: {{ subject }}{% endif %}',
    );
    expect(await run(config, 'alert', 'test', 'ops', '--kind', 'opened')).toMatchObject({ code: 0 });
    expect(sink.received[0]?.mail.subject).toMatch(/^Ours: \[TEST\]/);
    writeFileSync(join(folder, 'own.liquid'), 'fine\n{{ headline | shout }}');
    const { code, failed } = await run(config, 'alert', 'test', 'ops');
    expect(code).toBe(2);
    expect(failed).toMatch(/own\.liquid cannot be used for mails: undefined filter: shout, line:2/);
  });

  test('names who there is where it is asked for somebody else', async () => {
    const { code, failed } = await run(notify, 'alert', 'test', 'nobody');
    expect({ code, failed }).toEqual({ code: 2, failed: 'there is no "nobody" under notify; there is ops, boss\n' });
  });
});

describe('deliveries', () => {
  async function daemon() {
    const retried: unknown[] = [];
    const row = {
      ...delivery({ id: 7, attempts: 1, lastError: '550 no such user' }),
      target: 'shop',
      settledAt: 0,
      message: null,
      reference: null,
    };
    const store = {
      listDeliveries: ({ state }: { readonly state?: string }) =>
        state === 'dead' ? [{ ...row, state: 'dead' as const }] : [],
      retryDeliveries(ids: readonly number[] | null) {
        retried.push(ids);
        return 1;
      },
    };
    const server = await serveWeb({
      plugins: [deliveryRoutes({ store, wakeOutbox: () => {} })],
    });
    const config = `http: { listen: "0.0.0.0:${server.addr().port}" }`;
    return { config, retried, [Symbol.asyncDispose]: async () => server.close() };
  }

  test('list shows those of the running daemon with their last errors', async () => {
    await using place = await daemon();
    const { code, printed } = await run(place.config, 'deliveries', 'list');
    expect({ code, printed }).toEqual({
      code: 0,
      printed:
        '7  dead  opened of shop  to email ops@example.com  since 2026-01-01T12:01:30.000Z  1 attempt\n    550 no such user\n',
    });
  });

  test('retry has the running daemon try them again', async () => {
    await using place = await daemon();
    expect(await run(place.config, 'deliveries', 'retry', '7')).toMatchObject({
      code: 0,
      printed: '1 delivery is tried again now\n',
    });
    expect(await run(place.config, 'deliveries', 'retry', '--all')).toMatchObject({ code: 0 });
    expect(place.retried).toEqual([[7], null]);
  });

  test.each([[], ['7', '--all'], ['x'], ['0']])('retry %s %s is refused', async (...args) => {
    await using place = await daemon();
    expect(await run(place.config, 'deliveries', 'retry', ...args)).toMatchObject({ code: 2 });
    expect(place.retried).toEqual([]);
  });

  test('say how to go on where no daemon answers', async () => {
    const { code, failed } = await run('http: { listen: "127.0.0.1:1" }', 'deliveries', 'list');
    expect(code).toBe(1);
    expect(failed).toMatch(/ECONNREFUSED.*; is "watchpost run" running on this machine with the same configuration\?/);
  });
});
