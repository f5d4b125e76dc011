import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLeaderlessNotices } from '#compose/hubs/leaderless.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { mailsIn } from '../../support/mail-files.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { startSmtp } from '../../support/smtp.ts';
import { tempFolder } from '../../support/store.ts';

// What a hub that follows sends by itself while no hub leads.

const second = 1_000;
const patience = { timeout: 30_000, interval: 20 };

async function load(folder: string, notify: string, more = ''): Promise<Config> {
  const path = join(folder, 'watchpost.yaml');
  const targets = 'targets: { shop: { check: tcp, host: "127.0.0.1:9" } }';
  await writeFile(path, `data: ${folder}/watchpost.db\n${targets}\nnotify: { ops: { ${notify} } }\n${more}`);
  return loadConfig({ path, env: {} });
}

function openNotices(folder: string, config: () => Config, clock: FakeClock) {
  return openLeaderlessNotices({
    hub: 'b',
    path: join(folder, 'notice'),
    config,
    identity: () => 'here',
    environment: { clock, random: seededRandom(), log: memoryLog().log, version: '0.0.0', pid: process.pid },
    devices: () => null,
  });
}

test('a recipient that is notified later hears that a hub leads again, also from a hub that was restarted meanwhile', async () => {
  using folder = tempFolder();
  const clock = new FakeClock('2026-01-01T12:00:00Z');
  const config = await load(folder.path, 'email: { to: [boss@example.com] }, after: 1m, group_wait: 0s');
  const subjects = async () => {
    await clock.advance(second);
    return (await mailsIn(folder.path)).map(({ subject }) => subject);
  };
  {
    await using notices = openNotices(folder.path, () => config, clock);
    notices.report('none takes the lead', clock.now());
    await expect.poll(subjects, patience).toEqual([expect.stringContaining('[NO LEADER] hubs')]);
    await expect
      .poll(async () => {
        await clock.advance(second);
        return readFileSync(join(folder.path, 'notice'), { encoding: 'utf8', flag: 'a+' });
      }, patience)
      .toMatch(/\}$/);
  }
  await using again = openNotices(folder.path, () => config, clock);
  expect(again.sentSince).not.toBeNull();
  again.report(null, clock.now());
  await expect
    .poll(subjects, patience)
    .toEqual([expect.stringContaining('[NO LEADER] hubs'), expect.stringContaining('[RESOLVED] hubs')]);
});

test('a reload that names another mail server counts for the next notice', async () => {
  using folder = tempFolder();
  await using smtp = await startSmtp();
  const clock = new FakeClock('2026-01-01T12:00:00Z');
  const ops = 'email: { to: [ops@example.com] }, group_wait: 0s';
  let config = await load(folder.path, ops);
  await using notices = openNotices(folder.path, () => config, clock);
  notices.report('none takes the lead', clock.now());
  await expect
    .poll(async () => {
      await clock.advance(0);
      return mailsIn(folder.path);
    }, patience)
    .toHaveLength(1);
  config = await load(folder.path, ops, `smtp: { url: "smtp://127.0.0.1:${smtp.port}", from: watch@example.com }`);
  notices.report(null, clock.now());
  await expect
    .poll(async () => {
      await clock.advance(0);
      return smtp.received.map(({ mail }) => mail.subject);
    }, patience)
    .toEqual([expect.stringContaining('[RESOLVED] hubs')]);
});
