import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { startSmtp } from '../support/smtp.ts';

interface Setup {
  readonly target: string;
  readonly smtpPort?: number;
}

const config = ({ target, smtpPort }: Setup) => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
${smtpPort === undefined ? '' : `smtp: { url: smtp://127.0.0.1:${smtpPort}, from: Watchpost <alerts@example.com> }`}
nodes: { de1: { location: [de, Germany, Frankfurt], asn: AS64500 } }
defaults: { every: 1s, notify: [ops] }
targets:
  shop: { check: http, host: "${target}", timeout: 900ms, labels: { team: web } }
  port: { check: tcp, host: "${new URL(target).host}", timeout: 900ms, rules: [late], notify: [] }
rules:
  late: { rounds: 99 }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
`;

test.concurrent('a target that goes down and comes back is told once each, in one thread, and stands in history and metrics', async () => {
  await using target = await startHttpTarget();
  await using smtp = await startSmtp();
  await using program = await createProgram();
  const { url, end } = await program.start(config({ target: target.url, smtpPort: smtp.port }));

  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  await eventually(15_000, async () => {
    const text = await metrics();
    expect(text).toMatch(/^watchpost_check_last_duration_seconds\{target="shop",check="http",node="de1"\} [\d.e-]+$/m);
    expect(text).toMatch(/^watchpost_check_last_duration_seconds\{target="port",check="tcp",node="de1"\} [\d.e-]+$/m);
    expect(text).toContain('watchpost_target_state{target="shop",state="up"} 1');
  });

  await target.stop();
  const [down] = await smtp.mails(1);
  expect(down?.mail.subject).toMatch(/^\[DOWN\] shop: .*refused/);
  expect(down?.recipient).toBe('ops@example.com');
  expect(down?.mail.text).toContain('de1');
  expect(down?.mail.html).toContain('shop');
  await eventually(5_000, async () => {
    const text = await metrics();
    expect(text).toContain('watchpost_incident_active{target="shop",rule="down",severity="critical"} 1');
    expect(text).toContain('watchpost_target_state{target="shop",state="down"} 1');
  });

  await target.start();
  const [, resolved] = await smtp.mails(2);
  expect(resolved?.mail.subject).toMatch(/^\[RESOLVED\] shop/);
  expect(resolved?.mail.inReplyTo).toBe(down?.mail.messageId);
  await eventually(5_000, async () => {
    expect(await metrics()).toContain('watchpost_incident_active{target="shop",rule="down",severity="critical"} 0');
  });

  expect(query(program.database, `SELECT DISTINCT target, node, status FROM history ORDER BY 1, 3`)).toEqual([
    { target: 'port', node: 'de1', status: 'down' },
    { target: 'port', node: 'de1', status: 'up' },
    { target: 'shop', node: 'de1', status: 'down' },
    { target: 'shop', node: 'de1', status: 'up' },
  ]);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(smtp.received).toHaveLength(2);
});

test.concurrent('with the mail server gone for the whole outage, one mail tells the story when it is back', async () => {
  await using target = await startHttpTarget();
  await using smtp = await startSmtp();
  await using program = await createProgram();
  await smtp.stop();
  const { end, logged } = await program.start(config({ target: target.url, smtpPort: smtp.port }));
  await eventually(15_000, () => expect(target.requests).toBeGreaterThan(0));
  await target.stop();
  await logged(/^incident opened/);
  await logged(/^messages are rejected/);
  await target.start();
  await logged(/^incident closed/);
  await smtp.start();
  const [late] = await smtp.mails(1);
  expect(late?.mail.subject).toMatch(/^\[RESOLVED\] shop/);
  expect(late?.mail.text).toMatch(/delayed/);
  await end('SIGTERM');
  expect(smtp.received).toHaveLength(1);
});

test.concurrent('killed between the incident and its mail, it sends the mail after the restart', async () => {
  await using target = await startHttpTarget();
  await using smtp = await startSmtp();
  await using program = await createProgram();
  await smtp.stop();
  const first = await program.start(config({ target: target.url, smtpPort: smtp.port }));
  await eventually(15_000, () => expect(target.requests).toBeGreaterThan(0));
  await target.stop();
  await first.logged(/^incident opened/);
  expect(await first.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });

  await smtp.start();
  const second = await program.start(config({ target: target.url, smtpPort: smtp.port }));
  const [down] = await smtp.mails(1);
  expect(down?.mail.subject).toMatch(/^\[DOWN\] shop/);
  await target.start();
  const [, resolved] = await smtp.mails(2);
  expect(resolved?.mail.inReplyTo).toBe(down?.mail.messageId);
  await second.end('SIGTERM');
  expect(smtp.received).toHaveLength(2);
  expect(query(program.database, 'SELECT count(*) AS n FROM incidents')).toEqual([{ n: 1 }]);
});

test.concurrent('without a mail server the mails are files beside the database, and the log says where', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const { end, logged } = await program.start(config({ target: target.url }));
  const { folder } = await logged(/^smtp is not configured/);
  expect(folder).toBe(join(program.folder, 'mail'));
  await eventually(15_000, () => expect(target.requests).toBeGreaterThan(0));
  await target.stop();
  const [name] = await eventually(20_000, async () => {
    const names = (await readdir(String(folder))).filter((one) => one.endsWith('.eml'));
    expect(names).toHaveLength(1);
    return names;
  });
  expect(await readFile(join(String(folder), String(name)), 'utf8')).toContain('Subject: [DOWN] shop');
  await end('SIGTERM');
});

test.concurrent('a mail server that hangs delays neither checks nor the end of the program', async () => {
  await using target = await startHttpTarget();
  await using smtp = await startSmtp({ onConnect: () => {} });
  await using program = await createProgram();
  const { end, logged } = await program.start(config({ target: target.url, smtpPort: smtp.port }));
  await eventually(15_000, () => expect(target.requests).toBeGreaterThan(0));
  await target.stop();
  await logged(/^incident opened/);
  await target.start();
  const before = target.requests;
  await eventually(10_000, () => expect(target.requests).toBeGreaterThan(before + 4));
  await eventually(10_000, () => {
    const [{ n } = { n: 0 }] = query(program.database, `SELECT count(*) AS n FROM history WHERE target = 'shop'`);
    expect(Number(n)).toBeGreaterThan(5);
  });
  const started = performance.now();
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - started).toBeLessThan(20_000);
});

test.concurrent('a second signal ends the program at once', async () => {
  await using target = await startHttpTarget();
  await using smtp = await startSmtp({ onConnect: () => {} });
  await using program = await createProgram();
  const { process: child, logged } = await program.start(config({ target: target.url, smtpPort: smtp.port }));
  await eventually(15_000, () => expect(target.requests).toBeGreaterThan(0));
  await target.stop();
  await logged(/^incident opened/);
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  child.kill('SIGTERM');
  await logged(/^stopping/);
  child.kill('SIGTERM');
  expect(await ended).toBe(143);
});
