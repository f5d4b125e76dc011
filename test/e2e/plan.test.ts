import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, commandHere } from '../support/command.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

test('a plan tells what would change beside what runs, and who would be told of what is open', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const port = await closedPort();
  const config = (targets: string, more = '') => `
data: watchpost.db
http: { listen: 127.0.0.1:${port} }
defaults: { every: 1s, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] } }, web: { email: { to: [web@example.com] } } }
targets:
${targets}${more}`;
  const one = (name: string, more = '') =>
    `  ${name}: { check: http, host: "${target.url}", timeout: 900ms, bearer: hunter2${more} }\n`;
  const before = config(one('shop') + one('old') + one('blog'));
  const path = join(program.folder, 'watchpost.yaml');
  const { end } = await program.start(before);
  const draft = join(program.folder, 'draft.yaml');
  await writeFile(draft, before);
  const plan = async (...args: string[]) => commandHere(['config', 'plan', '--config', draft, ...args]);
  const same = await command(['config', 'plan', '--config', draft]);
  expect(same).toMatchObject({ code: 0, err: '' });
  expect(same.out).toBe(`3 targets on 1 node\nNothing changes: this is what runs at http://127.0.0.1:${port}.\n`);
  expect((await plan('--all')).out).toMatch(/^checks a minute +180 +180$/m);

  await target.stop();
  const incidents = async () => JSON.parse((await commandHere(['incidents', '--json', '--config', path])).out);
  await eventually(20_000, async () => expect((await incidents()).incidents).toHaveLength(3));
  const after = config(
    one('shop', ', every: 2s').replace('hunter2', 'hunter3') + one('blog', ', notify: [ops, web]') + one('new'),
    'retention: { raw: 30d }\n',
  );
  await writeFile(draft, after.replace('data: watchpost.db', 'data: other.db'));
  const { out } = await plan();
  const rows = out.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | ').replaceAll(/\/down\/\d+/g, '/down'));
  expect(rows).toEqual([
    '3 targets on 1 node',
    `Beside what runs at http://127.0.0.1:${port}:`,
    '',
    `added | new | http ${target.url}, every 1s`,
    'removed | old',
    'changed | shop | every: 1s → 2s',
    'changed | blog | notify: ops → ops, web',
    expect.stringMatching(/^setting \| data \| \/.*\/watchpost.db → \/.*\/other.db$/),
    'setting | retention.raw | 90d → 30d',
    'setting | secrets | one or more differ',
    'restart | data | takes effect after a restart only',
    'notify | old/down | is closed: its target is not watched any more: email ops@example.com',
    'notify | blog/down | goes on, and they were not notified: email web@example.com',
    '',
    ' | now | then',
    'checks a minute | 180 | 150',
    ' | on zz1 | 180 | 150',
    expect.stringContaining('results a month | '),
    expect.stringContaining('disk a month | '),
    expect.stringMatching(/^disk after a year \| [\d.]+ MB \| [\d.]+ MB$/),
    '',
  ]);
  expect(out).not.toContain('hunter');
  expect(JSON.parse((await plan('--json')).out)).toMatchObject({
    beside: { kind: 'daemon' },
    added: ['new'],
    removed: ['old'],
    needs_restart: ['data'],
    secrets: true,
    checks_a_minute: 150,
    now: { checks_a_minute: 180 },
  });

  expect(await end('SIGTERM')).toMatchObject({ code: 0 });
  await writeFile(draft, after);
  const stored = await plan();
  expect(stored.out).toContain('No daemon answers');
  expect(stored.out).toMatch(/^added +new /m);
  expect(stored.out).toMatch(/^removed +old$/m);
  expect(stored.out).toMatch(
    /^notify +old\/down\/\d+ +is closed: its target is not watched any more: email ops@example\.com$/m,
  );
});
