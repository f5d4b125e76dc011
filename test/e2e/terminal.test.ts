import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, commandHere } from '../support/command.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { needsProgram } from '../support/programs.ts';
import { openTerminal } from '../support/tmux.ts';
import { closedPort } from '../support/tcp-servers.ts';

const patienceMs = 30_000;

test.concurrent('top shows states as they change, and goes by its keys and the size of its terminal', async () => {
  await using target = await startHttpTarget();
  await using steady = await startHttpTarget();
  await using program = await createProgram();
  const many = Array.from(
    { length: 30 },
    (_, index) => `  many${index}: { check: http, host: "${steady.url}", every: 5s }`,
  );
  const config = `
data: watchpost.db
http: { listen: 127.0.0.1:${await closedPort()} }
targets:
  shop: { check: http, host: "${target.url}", every: 1s, timeout: 900ms }
${many.join('\n')}
`;
  const path = join(program.folder, 'watchpost.yaml');
  await program.start(config);
  const once = async () => commandHere(['top', '--config', path]);
  await eventually(patienceMs, async () => expect((await once()).out).toContain('31 of 31 targets are up'));
  // Where nobody looks it is a table, without a colour.
  expect(await command(['top', '--config', path])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^31 of 31 targets are up\n\ntarget +state[^]*\nmany0 +up +/),
  });
  expect(JSON.parse((await commandHere(['top', '--json', '--config', path])).out)).toHaveLength(31);

  await using terminal = await openTerminal(['top', '--config', path]);
  const shows = async (pattern: RegExp) =>
    eventually(patienceMs, async () => expect(await terminal.screen()).toMatch(pattern));
  await shows(/of 31 targets are up[^]*target +state +for[^]*q quit {2}s sort: state[^]*1-20 of 31/);
  await target.stop();
  await shows(/, 1 down[^]*\nshop +down [^]*connection refused/);
  await terminal.press('f');
  await shows(/f show: not up/);
  expect(await terminal.screen()).not.toMatch(/many\d+ +up/);
  await terminal.press('f', 'f', '/', 'm', 'a', 'n', 'y', '2', 'Enter', 's');
  await shows(/s sort: name {2}f show: all {2}\/ search "many2"/);
  const rows = (await terminal.screen()).split('\n').filter((line) => line.startsWith('many'));
  expect(rows.map((line) => line.split(' ')[0])).toHaveLength(11);
  await terminal.press('/', 'Escape', 'j', 'j');
  await shows(/3-22 of 31/);
  await terminal.resize(60, 12);
  await shows(/3-10 of 31/);
  expect(Math.max(...(await terminal.screen()).split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
  await terminal.press('q');
  await shows(/ended with 0/);
  expect((await once()).code).toBe(1);
});

test.concurrent('run on a terminal says where to look, and tells each change in words', async (context) => {
  needsProgram(context, 'tmux', 'tmux');
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const path = join(program.folder, 'watchpost.yaml');
  const port = await closedPort();
  const config = `
data: watchpost.db
http: { listen: 127.0.0.1:${port} }
targets: { shop: { check: http, host: "${target.url}", every: 1s, timeout: 900ms } }
`;
  await writeFile(path, config);
  await using terminal = await openTerminal(['run', '--log-level', 'warn', '--config', path]);
  const shows = async (pattern: RegExp) =>
    eventually(patienceMs, async () => expect(await terminal.screen()).toMatch(pattern));
  await shows(new RegExp(`Watching 1 target. Look at http://127.0.0.1:${port}/ or run "watchpost top"; Ctrl-C stops`));
  await shows(/^\d\d:\d\d:\d\d {2}shop is up$/m);
  await target.stop();
  await shows(/^\d\d:\d\d:\d\d {2}shop is down: connection refused, was up for \d+\w/m);
  await target.start();
  await shows(/^\d\d:\d\d:\d\d {2}shop is up, was down for \d+\w/m);
  await terminal.press('C-c');
  await shows(/ended with 0/);
});

test.concurrent('check mtr fills its table while it measures, and prints it once without a terminal', async (context) => {
  needsProgram(context, 'tmux', 'tmux');
  const args = ['check', 'mtr', '127.0.0.1', '--protocol', 'tcp', '--port', '9', '--packets', '5', '--interval', '1s'];
  await using terminal = await openTerminal(args, { columns: 120, rows: 24 });
  await eventually(patienceMs, async () =>
    expect(await terminal.screen()).toMatch(
      /^mtr 127\.0\.0\.1\n +hop +loss +sent[^]*\n +1 {2}127\.0\.0\.1 +0% +[1-4] /,
    ),
  );
  await eventually(patienceMs, async () => expect(await terminal.screen()).toContain('ended with 0'));
  expect((await terminal.screen()).trimEnd()).toMatch(
    /^UP {2}mtr 127\.0\.0\.1\n {2}took [^\n]+\n +hop [^\n]+\n +1 {2}127\.0\.0\.1 +0% +5 [^]*ended with 0$/,
  );
  const { code, out } = await command(args);
  expect(code).toBe(0);
  expect(out).toMatch(/^UP {2}mtr 127\.0\.0\.1\n/);
  expect(out.match(/127\.0\.0\.1 +0%/g)).toHaveLength(1);
  expect(out).not.toContain('\u{1b}[');
});

test.concurrent('a daemon goes on when its terminal is closed', async () => {
  await using target = await startHttpTarget();
  await using program = await createProgram();
  const path = join(program.folder, 'watchpost.yaml');
  const database = join(program.folder, 'watchpost.db');
  const config = `
data: ${database}
http: { listen: 127.0.0.1:${await closedPort()} }
targets:
  shop: { check: http, host: "${target.url}", every: 1s, timeout: 900ms }
`;
  await writeFile(path, config);
  const states = async () => JSON.parse((await commandHere(['top', '--json', '--config', path])).out) as unknown;
  {
    await using terminal = await openTerminal(['run', '--config', path]);
    await eventually(patienceMs, async () => expect(await terminal.screen()).toMatch(/Watching 1 target[^]*shop/));
  }
  const [holder] = query(`${database}.lock`, 'PRAGMA user_version');
  const pid = Number(holder?.['user_version']);
  using _daemon = { [Symbol.dispose]: () => void process.kill(pid, 'SIGTERM') };
  // A change of a state is a line for the terminal.
  await target.stop();
  await eventually(patienceMs, async () =>
    expect(await states()).toMatchObject([{ target: 'shop', status: 'down', check: 'http' }]),
  );
  await target.start();
  await eventually(patienceMs, async () => expect(await states()).toMatchObject([{ status: 'up' }]));
});
