import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandHere } from '../support/command.ts';
import { needsPodman, startPodman } from '../support/podman.ts';
import { createProgram, eventually } from '../support/program.ts';

test('the daemon watches containers, and finds them by their labels', async (context) => {
  needsPodman(context);
  await using podman = await startPodman();
  await podman.run('shop-db');
  await podman.run('web', ['--label', 'watchpost.host={name}', '--label', 'watchpost.label.team=shop']);
  await podman.run('unlabelled');
  await using program = await createProgram();
  const { url, log, logged, end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
docker_socket: ${podman.socket}
defaults: { every: 1s, notify: [ops] }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 0s } }
targets: { db: { check: docker, host: shop-db, timeout: 1s } }
targets_from: { found: { docker: ${podman.socket}, ask: { every: 1s }, check: docker, timeout: 1s } }
`);
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  const isUp = async (target: string, value: 0 | 1) =>
    eventually(60_000, async () =>
      expect(await metrics()).toMatch(new RegExp(`^watchpost_up\\{target="${target}",.*\\} ${value}$`, 'm')),
    );
  const mailed = async (text: string) =>
    eventually(60_000, () => {
      const mails = globSync('mail/*.eml', { cwd: program.folder }).map((name) =>
        readFileSync(join(program.folder, name), 'utf8').replaceAll(/=\r?\n/g, ''),
      );
      expect(mails.filter((mail) => mail.includes(text)).length).toBeGreaterThan(0);
    });
  await isUp('db', 1);
  await isUp('found-web', 1);
  const target: unknown = await (await fetch(`${url}/api/v1/targets/found-web`)).json();
  expect(target).toMatchObject({ target: { labels: { container: 'web', team: 'shop' } } });
  expect(await metrics()).not.toContain('unlabelled');

  await podman.command('kill', '--signal', 'KILL', 'shop-db');
  await mailed('container shop-db is exited, exit code 137');
  // What has ended stays a target, and is down.
  await podman.command('kill', '--signal', 'KILL', 'web');
  await isUp('found-web', 0);
  await mailed('container web is exited, exit code 137');
  await podman.command('start', 'shop-db', 'web');
  await isUp('db', 1);
  await isUp('found-web', 1);

  await podman.run('cache', ['--label', 'watchpost.host={name}']);
  await isUp('found-cache', 1);
  await podman.command('rm', '--force', '--time', '0', 'web');
  await eventually(60_000, async () => expect(await metrics()).not.toContain('target="found-web"'));

  podman.freeze();
  await logged(/^cannot fetch target list; keeping the last one$/);
  expect(await metrics()).toContain('target="found-cache"');
  podman.thaw();
  await logged(/^target list is available again$/);
  await isUp('found-cache', 1);
  expect((await end('SIGTERM')).code).toBe(0);
  expect(log.filter(({ level }) => level === 'error')).toEqual([]);
}, 180_000);

test('config check names the nodes that have no container engine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-docker-'));
  try {
    const file = join(folder, 'watchpost.yaml');
    writeFileSync(file, 'data: watchpost.db\ntargets: { db: { check: docker, host: shop-db } }\n');
    const { code, err } = await commandHere(['config', 'check', '--config', file]);
    expect([code, err]).toEqual([0, expect.stringContaining('db needs docker_socket, which is not set: zz1')]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
