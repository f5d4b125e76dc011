import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHttpTarget } from '../support/http-target.ts';
import { certificate } from '../support/mail-certificates.ts';
import { createProgram, eventually } from '../support/program.ts';
import { startSmtp } from '../support/smtp.ts';

test('a password that is rotated takes effect without a restart', async () => {
  let password = 'old';
  const pair = await certificate();
  await using target = await startHttpTarget();
  await using smtp = await startSmtp({
    ...pair,
    secure: true,
    authOptional: false,
    onAuth: (login, _session, callback) =>
      login.password === password ? callback(null, { user: login.password }) : callback(new Error('wrong password')),
  });
  await using program = await createProgram();
  const file = (name: string, text: string) => writeFile(join(program.folder, name), text, { mode: 0o600 });
  await file('ca.pem', pair.cert);
  await file('password', 'old\n');
  const config = `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
smtp: { url: smtps://127.0.0.1:${smtp.port}, username: alerts, password_file: password, ca_file: ca.pem, from: alerts@example.com }
targets:
  shop: { check: http, host: "${target.url}", every: 1s, timeout: 900ms, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
`;
  const { logged, log, end } = await program.start(config);
  await eventually(15_000, () => expect(target.requests).toBeGreaterThan(0));
  await target.stop();
  expect((await smtp.mails(1))[0]).toMatchObject({ user: 'old' });

  password = 'new';
  await file('password', 'new\n');
  await logged(/^configuration reloaded/);
  await target.start();
  const [, resolved] = await smtp.mails(2);
  expect(resolved).toMatchObject({ user: 'new' });
  expect(resolved?.mail.subject).toMatch(/^\[RESOLVED\] shop/);
  expect(log.filter(({ msg }) => /after a restart|not delivered/.test(msg))).toEqual([]);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
});
