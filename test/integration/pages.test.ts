import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CommandContext } from '#cli/shared/command-context.ts';
import { sha256 } from '#kernel/hash.ts';
import { kumaTables } from '../support/kuma-rows.ts';
import { makeKumaDatabase } from '../support/kuma-database.ts';
import { natsObstacle, startNats } from '../support/nats-server.ts';
import { commandHere } from '../support/command.ts';
import { commandsOf, type Ended, openShell, runAll, type Shell } from '../support/pages.ts';
import { startSink } from '../support/http-sink.ts';
import { needsProgram } from '../support/programs.ts';
import { createProgram, eventually, type Program } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

// Every command that a page shows is run as it stands there, one after the other. What cannot be run here says why.
const notHere: Readonly<Record<string, string>> = {
  'npm ci && npm start': 'installs this very checkout; .ci/run does, and the program is started below',
  'npm ci && npm test': 'would run this test again',
  'docker build -t watchpost .': 'needs an engine; .ci/image builds the same',
  'docker run --read-only --cap-drop ALL -v ./config:/config:ro -v watchpost-data:/data -p 8080:8080 watchpost':
    'needs an engine; .ci/try-image runs it with the same limits',
  'docker run --detach --name watchpost --read-only --cap-drop ALL -v ./deploy/config:/config:ro -v watchpost-data:/data -p 127.0.0.1:8080:8080 watchpost':
    'needs an engine; .ci/try-image runs it with the same limits',
  'docker cp watchpost:/data/mail .': 'needs an engine; the test reads the folder',
  'npm ci': 'installs this very checkout; .ci/run does',
  'npm pack': 'writes into this very checkout; test/e2e/package.test.ts packs',
  'npm install --global ./watchpost-0.1.0.tgz': 'changes the machine; test/e2e/package.test.ts installs the package',
  'mkdir /etc/watchpost': 'changes the machine',
  'watchpost init /etc/watchpost/watchpost.yaml': 'changes the machine',
  'cp "$(npm root --global)/watchpost/config/watchpost.service" /etc/systemd/system/':
    'changes the machine; test/integration/units.test.ts has the units',
  'systemctl enable --now watchpost': 'changes the machine; test/integration/units.test.ts has the units',
};
const runnable = (page: string) => commandsOf(page).filter((line) => notHere[line] === undefined);

const root = new URL('../../', import.meta.url).pathname;

interface World extends Shell, AsyncDisposable {
  readonly program: Program;
  readonly port: number;
  /** Runs a command that the page does not show, with the configuration of the folder: that takes no process. */
  readonly runHere: (args: readonly string[], env?: CommandContext['env']) => Promise<Ended>;
}

/** A shell in the folder of a program; `watchpost run` starts the program and waits until it sees its target up. */
async function openWorld(): Promise<World> {
  const program = await createProgram();
  const shell = openShell(program.folder);
  const port = await closedPort();
  const config = join(program.folder, 'watchpost.yaml');
  const run = async (line: string): Promise<Ended> => {
    if (/^(npx )?watchpost run$/.test(line)) {
      const { url } = await program.start(readFileSync(config, 'utf8'));
      await eventually(60_000, async () =>
        expect(await (await fetch(`${url}/api/v1/targets`)).text()).toContain('"status":"up"'),
      );
      return { line, code: 0, text: '' };
    }
    const ended = await shell.run(line);
    if (/^(npx )?watchpost init$/.test(line)) {
      // The port of the example may be taken on this machine.
      const text = readFileSync(config, 'utf8').replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
      expect(text).toContain('every: 30s');
      writeFileSync(config, text.replace('every: 30s', 'every: 1s'));
    }
    return ended;
  };
  const runHere = async (args: readonly string[], env: CommandContext['env'] = {}) => {
    const { code, out, err } = await commandHere([...args, '--config', config], { env });
    return { line: args.join(' '), code: code ?? -1, text: `${out}${err}` };
  };
  return { ...shell, run, runHere, program, port, [Symbol.asyncDispose]: async () => program[Symbol.asyncDispose]() };
}

test('every command that is not run is shown somewhere', () => {
  const pages = ['README.md', 'docs/install.md', 'docs/first-mail.md', 'docs/heartbeats.md', 'docs/nodes.md'];
  const shown = pages.flatMap(commandsOf);
  expect(Object.keys(notHere).filter((line) => !shown.includes(line))).toEqual([]);
});

test.concurrent('docs/install.md', async () => {
  await using world = await openWorld();
  const commands = runnable('docs/install.md');
  expect(commands).toContain('npx watchpost run');
  expect(await runAll(commands, world.run, { 'npx watchpost run --once': 1 })).toEqual([]);
});

const yamlOf = (page: string) => /^```yaml\n([^]*?)^```$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1] ?? '';

test.concurrent('docs/first-mail.md', async () => {
  await using world = await openWorld();
  const { folder } = world.program;
  const config = yamlOf('docs/first-mail.md')
    .replace('/data/watchpost.db', 'watchpost.db')
    .replace('0.0.0.0:8080', `127.0.0.1:${world.port}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${world.port}`)
    .replace('127.0.0.1:9', `127.0.0.1:${await closedPort()}`)
    .replace('every: 10s', 'every: 1s')
    .replace('to: [ops@example.com] }', 'to: [ops@example.com] }, group_wait: 500ms, group_interval: 1s');
  const commands = runnable('docs/first-mail.md').map((line) =>
    line.replace('docker exec watchpost node src/watchpost.js', 'watchpost'),
  );
  const [health = '', incidents = '', check = '', reload = '', again = '', sample = ''] = commands;
  expect(commands).toHaveLength(6);
  const mails = () => globSync('mail/*.eml', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'));
  const mailed = async (subject: RegExp) =>
    eventually(60_000, async () => expect(mails().filter((mail) => subject.test(mail))).toHaveLength(1));
  const { url } = await world.program.start(config);
  await mailed(/^Subject: .*\[DOWN\] practice/m);
  await eventually(60_000, async () => expect((await fetch(`${url}/healthz`)).status).toBe(200));
  expect(await runAll([health], world.run)).toEqual([]);
  expect((await world.run(incidents)).text).toContain('practice');
  const mended = config.replace(/practice: .*/, `practice: { check: tcp, host: "127.0.0.1:${world.port}" }`);
  writeFileSync(join(folder, 'watchpost.yaml'), mended);
  expect(await runAll([check, reload], world.run)).toEqual([]);
  await mailed(/^Subject: .*\[RESOLVED\] practice/m);
  expect(await runAll([again, sample], world.run)).toEqual([]);
});

test.concurrent('docs/slack.md', async () => {
  await using world = await openWorld();
  await using sink = await startSink(() => ({ status: 200, body: 'ok' }));
  await runAll(['watchpost init', 'watchpost run'], world.run);
  const path = join(world.program.folder, 'watchpost.yaml');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, text.indexOf('notify:\n')) + yamlOf('docs/slack.md'));
  writeFileSync(join(world.program.folder, 'slack-url'), `${sink.origin}/services/secret`, { mode: 0o600 });
  expect(await runAll(runnable('docs/slack.md'), world.run)).toEqual([]);
  expect(sink.received).toHaveLength(1);
});

test.concurrent('docs/operating.md', async () => {
  await using world = await openWorld();
  const run = async (line: string) => {
    const ended = await world.run(line);
    if (line === 'watchpost run') {
      await eventually(60_000, async () => {
        expect((await world.runHere(['status'])).text).toMatch(/^itself +up /m);
      });
    }
    return ended;
  };
  const commands = runnable('docs/operating.md');
  expect(commands.length).toBeGreaterThan(25);
  expect(commands).toContain('watchpost run');
  // It watches itself, and is not there yet.
  expect(await runAll(commands, run, { 'watchpost run --once --json': 1 })).toEqual([]);
});

test('docs/operating.md has a heading for every bad day that an operator has', () => {
  const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
  for (const day of ['disk', 'Mails', 'clock', 'NATS', 'Moving', 'configuration', 'database'])
    expect(page).toMatch(new RegExp(`^### .*${day}`, 'm'));
});

test.concurrent('README.md', async (context) => {
  needsProgram(context, 'sqlite3', 'sqlite3');
  needsProgram(context, 'curl', 'curl');
  await using world = await openWorld();
  const demo = readFileSync(join(root, 'config/watchpost.yaml'), 'utf8');
  expect(demo).toContain('data: ../data/watchpost.db');
  const here = demo.replace('../data/', 'data/').replaceAll('127.0.0.1:8080', `127.0.0.1:${world.port}`);
  await world.program.start(here.replaceAll(/every: \d+s/g, 'every: 1s'));
  const run = async (line: string) => {
    const ended = await world.run(line.replaceAll('127.0.0.1:8080', `127.0.0.1:${world.port}`));
    return { ...ended, code: ended.text.trim() === '' ? -1 : ended.code };
  };
  await eventually(60_000, async () => {
    expect(await runAll(runnable('README.md'), run)).toEqual([]);
  });
});

test.concurrent('docs/storage.md', async (context) => {
  needsProgram(context, 'sqlite3', 'sqlite3');
  await using world = await openWorld();
  await runAll(['watchpost init', 'watchpost run'], world.run);
  mkdirSync(join(world.program.folder, 'backup'));
  const run = async (line: string) => {
    if (line.startsWith('sqlite3 broken.db'))
      expect(await world.runHere(['backup', join(world.program.folder, 'broken.db')])).toMatchObject({ code: 0 });
    return world.run(line.replaceAll('/backup/', 'backup/'));
  };
  expect(await runAll(runnable('docs/storage.md'), run)).toEqual([]);
});

test.concurrent('docs/alerting.md', async (context) => {
  needsProgram(context, 'openssl', 'openssl');
  await using world = await openWorld();
  const commands = runnable('docs/alerting.md');
  expect(commands).toHaveLength(2);
  expect(await runAll(commands, world.run)).toEqual([]);
});

test.concurrent('docs/pages.md', async () => {
  await using world = await openWorld();
  await world.program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:${world.port} }
targets: { shop: { check: tcp, host: "127.0.0.1:${world.port}" } }
pages: { status: { targets: { shop: Shop } } }
`);
  let note = '';
  const run = async (line: string) => {
    const here = line.replace('2026-12-24', '2999-12-24').replace('/run/secrets/ops', 'ops').replace(/ID$/, note);
    const ended = await world.run(line.includes('users hash') ? `printf 'correct horse' | ${here}` : here);
    if (line.includes('status post')) [note = ''] = ended.text.split(' ');
    return ended;
  };
  const commands = runnable('docs/pages.md');
  expect(commands).toHaveLength(9);
  // There is no subscriber.
  const others = { 'watchpost status unsubscribe ann@example.com': 2 };
  expect(await runAll(commands, run, others)).toEqual([]);
  expect(readFileSync(join(world.program.folder, 'ops'), 'utf8')).toMatch(/^\$scrypt\$/);
  const left = (await world.runHere(['status', 'notes'])).text;
  expect(left).not.toContain('We move');
  expect(left).toMatch(/resolved .*\n.*identified .*\n.*investigating /);
});

test.concurrent('docs/api.md', async (context) => {
  needsProgram(context, 'curl', 'curl');
  await using world = await openWorld();
  const { url } = await world.program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:${world.port} }
service: {}
`);
  await eventually(60_000, async () => expect(await (await fetch(`${url}/nodes/hosts`)).text()).toContain('zz1'));
  let id = '';
  const run = async (line: string) => {
    const ended = await world.run(
      line.replaceAll('127.0.0.1:8080', `127.0.0.1:${world.port}`).replaceAll(/(?<=check[-\w]*\/)\w{20}\b/g, id),
    );
    id = /"(?:request_)?id":"(\w{20})"/.exec(ended.text)?.[1] ?? id;
    const isMeant = /node=fr1/.test(line) === /"error":/.test(ended.text);
    return { ...ended, code: isMeant ? ended.code : -1 };
  };
  const commands = runnable('docs/api.md');
  expect(commands.length).toBeGreaterThan(5);
  expect(await runAll(commands, run)).toEqual([]);
});

test.concurrent('docs/heartbeats.md', async (context) => {
  needsProgram(context, 'curl', 'curl');
  await using world = await openWorld();
  const secret = 'pP3ViM8RlbyWBNKtTQKCzh7OcPF7moO1';
  await world.program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:${world.port} }
targets: { backup: { check: heartbeat, every: 1d, secret_hash: ${sha256(secret)} } }
`);
  const job = world.install('backup', 'echo 12 files');
  // A cron line is a command after five fields.
  const page = readFileSync(join(root, 'docs/heartbeats.md'), 'utf8');
  const cron = [...page.matchAll(/^```cron\n(?:\S+ ){5}(.*)\n```$/gm)].map(([, line = '']) => line);
  expect(cron).toHaveLength(1);
  const calls = [...runnable('docs/heartbeats.md'), ...cron];
  expect(calls.length).toBeGreaterThan(3);
  const run = async (line: string) =>
    world.run(
      line
        .replaceAll('https://status.example.com', `http://127.0.0.1:${world.port}`)
        .replaceAll('<secret>', secret)
        .replaceAll('/tmp/', `${world.program.folder}/`)
        .replaceAll('/usr/local/bin/backup', job),
    );
  expect(await runAll(calls, run)).toEqual([]);
  const { text } = await world.runHere(['history', 'backup', '--json']);
  // The command, the line of cron, and the one with its last lines.
  expect(JSON.parse(text)).toMatchObject({ answers: { up: 3, down: 0 } });
});

test.concurrent('docs/import.md', async () => {
  await using world = await openWorld();
  const { folder } = world.program;
  const fixtures = join(root, 'test/fixtures/import');
  cpSync(join(fixtures, 'blackbox'), folder, { recursive: true });
  copyFileSync(join(fixtures, 'gatus/global.yaml'), join(folder, 'config.yaml'));
  makeKumaDatabase(join(folder, 'kuma.db'), 2, kumaTables);
  const monitor = { id: 1, name: 'shop', type: 'http', url: 'https://shop.example.com', interval: 60, active: true };
  writeFileSync(join(folder, 'Uptime_Kuma_Backup.json'), JSON.stringify({ monitorList: [monitor] }));
  const run = async (line: string) => {
    // Each writes a new file.
    for (const old of ['watchpost.yaml', 'watchpost.db', 'secrets'])
      rmSync(join(folder, old), { recursive: true, force: true });
    const variables = 'export TOKEN=t SLACK_URL=https://hooks.slack.com/services/T/B/x';
    // Once instead of for an hour, and whether verdicts differ or not: here there is no network.
    if (line.includes(' --compare')) {
      const compared = await world.run(`${variables}; ${line.replace(' 1h', '')} || [ $? = 1 ]`);
      expect(compared.text).toMatch(/\d+ http targets?, \d+ responses?:/);
      return compared;
    }
    const ended = await world.run(`${variables}; ${line}`);
    const checked = await world.runHere(['config', 'check'], { SLACK_URL: 'https://hooks.slack.com/services/T/B/x' });
    return { ...ended, code: ended.code + checked.code, text: ended.text + checked.text };
  };
  const commands = runnable('docs/import.md');
  expect(commands.length).toBeGreaterThan(4);
  expect(await runAll(commands, run)).toEqual([]);
});

const obstacle = natsObstacle();
test
  .skipIf(obstacle !== null)
  .concurrent(`docs/nodes.md${obstacle === null ? '' : ` (skipped: ${obstacle})`}`, async () => {
    await using world = await openWorld();
    const { folder } = world.program;
    await using nats = await startNats();
    const config = `
data: watchpost.db
http: { listen: 127.0.0.1:${world.port} }
nats: { servers: ["${nats.url}"] }
targets: { itself: { check: http, host: "http://127.0.0.1:${world.port}/healthz", every: 1s } }
`;
    writeFileSync(join(folder, 'watchpost.yaml'), config);
    const pidFile = join(folder, 'nats.pid');
    let seed = '';
    const run = async (line: string): Promise<Ended> => {
      const here = line.replaceAll('/run/nats/nats.pid', pidFile).replaceAll('tls://nats.example.com:4222', nats.url);
      // A node runs on: it is left to itself, and the next command looks how it is.
      if (line.startsWith('watchpost node '))
        return world.run(`${seed}; ${here} --allow-private --spool-file us1.db > node.log 2>&1 & echo $! > node.pid`);
      const ended = await world.run(here);
      if (line.startsWith('watchpost nodes init')) {
        // It includes the list that was written, as config/nats.conf does.
        rmSync(join(nats.folder, 'users.conf'));
        symlinkSync(join(folder, 'nodes/nodes.conf'), join(nats.folder, 'users.conf'));
        await nats.stop();
        await nats.start(`pid_file: "${pidFile}"`);
        await world.program.start(config);
      }
      if (line.startsWith('watchpost nodes add')) seed = /^ +(\(umask.*\))$/m.exec(ended.text)?.[1] ?? 'false';
      if (line.startsWith('watchpost nodes list')) {
        await eventually(60_000, async () =>
          expect((await world.runHere(['nodes', 'list'])).text).toMatch(/^us1 .* online /m),
        );
        await world.run('kill $(cat node.pid)');
      }
      return ended;
    };
    try {
      const commands = runnable('docs/nodes.md');
      expect(commands.length).toBeGreaterThan(5);
      expect(await runAll(commands, run)).toEqual([]);
      expect((await world.runHere(['nodes', 'list'])).text).not.toMatch(/^us[12]/m);
    } finally {
      await world.run('test ! -f node.pid || kill $(cat node.pid) 2>/dev/null');
    }
  });
