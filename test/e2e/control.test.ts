import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, commandHere } from '../support/command.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';
import { startSmtp } from '../support/smtp.ts';
import { closedPort } from '../support/tcp-servers.ts';

test('a running program is told to reload, to be silent and that somebody knows', async () => {
  await using target = await startHttpTarget();
  await using smtp = await startSmtp();
  await using program = await createProgram();
  const port = await closedPort();
  const config = (targets: string, more = '') => `
data: watchpost.db
http: { listen: 127.0.0.1:${port} }
smtp: { url: smtp://127.0.0.1:${smtp.port}, from: Watchpost <alerts@example.com> }
defaults: { every: 1s }
notify: { ops: { email: { to: [ops@example.com] }, grouped: false } }
targets:
${targets}${more}`;
  const one = (name: string) => `  ${name}: { check: http, host: "${target.url}", timeout: 900ms }\n`;
  const path = join(program.folder, 'watchpost.yaml');
  const { url, logged, log, end, process: child } = await program.start(config(one('shop')));
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  const watchpost = async (...args: string[]) => commandHere([...args, '--config', path]);
  const asProcess = async (...args: string[]) => command([...args, '--config', path]);

  await writeFile(path, config(one('shop') + one('blog')));
  expect(await watchpost('reload')).toEqual({ code: 0, out: 'reloaded: 1 added, 0 changed, 0 removed\n', err: '' });
  await eventually(10_000, async () =>
    expect(await metrics()).toContain('watchpost_target_state{target="blog",state="up"} 1'),
  );

  const added = await watchpost('silence', 'add', 'blog', '--for', '2h', '--why', 'it moves');
  expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^\w{8} {2}blog from \S+ until /) });
  const id = added.out.slice(0, 8);
  expect((await watchpost('silence', 'list')).out).toContain('it moves');
  await target.stop();
  const [down] = await smtp.mails(1);
  expect(down?.mail.subject).toMatch(/^\[DOWN\] shop/);
  await eventually(10_000, async () => {
    expect(await metrics()).toContain('watchpost_incident_suppressed{target="blog",rule="down",severity="critical"} 1');
  });
  expect((await watchpost('incidents')).out).toMatch(/blog\/down\/\d+ +silenced until/);
  const [, incident = ''] = /^Incident (\S+)\. To say/m.exec(down?.mail.text ?? '') ?? [];
  expect(await asProcess('ack', incident, '--why', 'on it')).toMatchObject({ code: 0 });
  expect((await watchpost('incidents')).out).toContain('acknowledged: on it');
  expect(await watchpost('ack', 'nothing', '--why', 'x')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no open incident nothing'),
  });

  expect(await asProcess('silence', 'expire', id)).toMatchObject({ code: 0 });
  const [, late] = await smtp.mails(2);
  expect(late?.mail.subject).toMatch(/^\[DOWN\] blog/);

  await writeFile(path, config(one('shop'), '  blog: { check: nothing }\n'));
  child.kill('SIGHUP');
  const { problems } = await logged(/^configuration is invalid/);
  expect(problems).toHaveLength(1);
  expect(await metrics()).toContain('watchpost_config_last_reload_successful 0');
  await writeFile(path, config(one('shop'), 'maintenance: []\n'));
  child.kill('SIGHUP');
  const [, , closed] = await smtp.mails(3);
  expect(closed?.mail.subject).toMatch(/^\[CLOSED\] blog: no longer monitored/);
  expect(await metrics()).toContain('watchpost_config_last_reload_successful 1');
  expect(await metrics()).not.toContain('target="blog"');
  expect(log.filter(({ msg }) => msg === 'configuration reloaded').length).toBeGreaterThanOrEqual(2);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
});
