import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ReceivedMail } from '../support/smtp.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { startSink } from '../support/http-sink.ts';
import { startSmtp } from '../support/smtp.ts';
import { tempFolder } from '../support/store.ts';
import { closedPort } from '../support/tcp-servers.ts';
import { renewalTimes } from '#monitor/notify/channel.ts';

const longest = (start: string) => start.padEnd(63, 'x');
const [first, second, rule] = [longest('shop'), longest('blog'), longest('down')];
const label = 'l'.repeat(63);
// RFC 5321 section 4.5.3.1.3: 256 octets with the brackets; servers commonly accept one less.
const recipient = `${'o'.repeat(64)}@${'d'.repeat(63)}.${'e'.repeat(63)}.${'f'.repeat(56)}.org`;
const publicUrl = 'https://watch.example.com';

const linksOf = (text: string) =>
  [...new Set(text.match(/https:\/\/watch\.example\.com\/[^\s"<>]*/g))].map((link) => link.replaceAll('&amp;', '&'));
const textOf = ({ mail }: ReceivedMail) => `${mail.text ?? ''} ${mail.html ?? ''}`;

test('every link that a message carries leads to its page, with the longest names that a configuration allows', async () => {
  await using server = await startSmtp();
  await using hook = await startSink();
  await using monitoring = await startSink();
  using folder = tempFolder();
  writeFileSync(join(folder.path, 'secret'), 'a secret of some length', { mode: 0o600 });
  const target = `{ check: tcp, host: "127.0.0.1:${await closedPort()}", every: 1s, rules: [${rule}], labels: { ${label}: "${'v'.repeat(200)}" } }`;
  const yaml = `
data: ${folder.path}/watchpost.db
http: { listen: "127.0.0.1:0", public_url: "${publicUrl}" }
nodes: { de1: {} }
smtp: { url: "smtp://127.0.0.1:${server.port}", from: alerts@example.com }
rules: { ${rule}: { failing: majority, rounds: 1, severity: critical } }
targets:
  ${first}: ${target}
  ${second}: ${target}
  up1: { check: tcp, host: "127.0.0.1:${server.port}", every: 1s }
  up2: { check: tcp, host: "127.0.0.1:${new URL(hook.origin).port}", every: 1s }
  up3: { check: tcp, host: "127.0.0.1:${new URL(monitoring.origin).port}", every: 1s }
notify:
  ${longest('ops')}: { email: { to: ["${recipient}"] }, group_wait: 3s }
  ${longest('alone')}: { email: { to: ["alone@example.com"] }, grouped: false }
  ${longest('hook')}: { webhook: { url: "${hook.origin}/", secret_file: secret }, grouped: false }
  ${longest('prom')}: { alertmanager: { urls: ["${monitoring.origin}"] } }
`;
  await using daemon = await startDaemonIn(folder.path, yaml, { renewal: renewalTimes });
  const patience = { timeout: 60_000, interval: 100 };
  await expect.poll(() => server.received.filter((one) => one.recipient === recipient).length, patience).toBe(1);
  await expect.poll(() => server.received.length, patience).toBe(3);
  await expect.poll(() => Math.min(hook.received.length, monitoring.received.length), patience).toBeGreaterThan(0);
  const links = new Set(
    [
      ...server.received.map(textOf),
      ...[...hook.received, ...monitoring.received].map(({ body }) => JSON.stringify(JSON.parse(body))),
    ].flatMap(linksOf),
  );
  // For each of the two targets its page and its acknowledgement, and one acknowledgement of both.
  const together = server.received.filter((one) => one.recipient === recipient).map(textOf);
  expect(together.flatMap(linksOf)).toHaveLength(5);
  const kinds = new Set([...links].map((link) => link.slice(publicUrl.length).split('/')[1]));
  expect(kinds).toEqual(new Set(['acknowledge', 'incidents']));
  const origin = `http://127.0.0.1:${daemon.web.addr().port}`;
  for (const link of links) {
    const page = await fetch(link.replace(publicUrl, origin), { headers: { accept: 'text/html,*/*;q=0.8' } });
    const type = page.headers.get('content-type');
    expect({ link, status: page.status, type }).toEqual({
      link,
      status: 200,
      type: expect.stringContaining('text/html'),
    });
    expect(await page.text()).toMatch(new RegExp(`${first}|${second}`));
  }
  const acknowledge = [...links].find((link) => link.includes('/acknowledge/'))?.replace(publicUrl, origin) ?? '';
  const asked = await fetch(acknowledge, { headers: { accept: 'application/json' } });
  expect(await asked.json()).toMatchObject({ ok: 1, message: expect.stringContaining('is down') });
  const wrong = await fetch(`${acknowledge}x`, { headers: { accept: 'text/html' } });
  expect({ status: wrong.status, type: wrong.headers.get('content-type') }).toEqual({
    status: 404,
    type: expect.stringContaining('text/html'),
  });
  const endless = await fetch(`${acknowledge}${'x'.repeat(4_000)}`, { headers: { accept: 'text/html' } });
  expect({ status: endless.status, type: endless.headers.get('content-type') }).toEqual({
    status: 414,
    type: expect.stringContaining('text/html'),
  });
  const done = await fetch(acknowledge, { method: 'POST', headers: { accept: 'text/html' } });
  expect(done.status).toBe(200);
}, 120_000);
