import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openConfigSource } from '#config/apply/config-source.ts';
import { createReloader } from '#config/apply/reload.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

const shop = 'targets: { shop: { check: tcp, host: "shop.example.com:443" } }\n';
const smtp = 'smtp: { url: smtps://mail.example.com, username: a, password_file: password, from: a@example.com }\n';

/** A daemon's reloads of a folder that a test writes to, and what they came from. */
async function open(first: string) {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-named-'));
  const write = async (name: string, content: string) => writeFile(join(folder, name), content);
  await write('watchpost.yaml', first);
  await write('password', 'one');
  await write('hosts.json', '[{ "targets": ["a.example:1"] }]');
  const clock = new FakeClock();
  const { log } = memoryLog();
  const source = openConfigSource({ path: join(folder, 'watchpost.yaml'), env: {}, clock, log });
  const reloader = createReloader({
    config: await source.load(),
    source,
    clock,
    log,
    apply: () => ({ added: [], changed: [], removed: [] }),
    onReloaded: () => {},
  });
  /** Time for many looks, each of which reads the disk. */
  const look = async () => {
    for (let count = 0; count < 6; count += 1) {
      await clock.advance(5_000);
      await source.fingerprint();
      await source.fingerprint();
    }
  };
  await look();
  const causes = () => reloader.reports.map(({ cause, result }) => `${cause}: ${result.ok ? 'good' : 'invalid'}`);
  return {
    write,
    look,
    reloader,
    causes,
    /** On a busy machine a reload takes seconds, and a look longer than those that are waited for. */
    async hears(expected: readonly string[]) {
      const heard = async () => {
        await look();
        return causes();
      };
      await expect.poll(heard).toEqual(expected);
    },
    async [Symbol.asyncDispose]() {
      reloader[Symbol.dispose]();
      source[Symbol.dispose]();
      await rm(folder, { recursive: true });
    },
  };
}

test.each([
  ['names a file', shop, shop + smtp, 'good'],
  ['no longer names one', shop + smtp, shop, 'good'],
  ['names files by a pattern', shop, `${shop}targets_from: { web: { files: "*.json", check: tcp } }\n`, 'good'],
  ['names a file and has a mistake', shop, `${shop + smtp}rules: 5\n`, 'invalid'],
  ['cannot be read', shop + smtp, '{', 'invalid'],
])('a configuration that %s now is read once', async (_, before, after, how) => {
  await using daemon = await open(before);
  await daemon.write('watchpost.yaml', after);
  await daemon.reloader.reload('asked');
  await daemon.look();
  expect(daemon.causes()).toEqual([`asked: ${how}`]);
  await daemon.write('watchpost.yaml', shop);
  await daemon.hears(['the files changed: good', `asked: ${how}`]);
  await daemon.look();
  expect(daemon.causes()).toHaveLength(2);
});

test('a file that is named for the first time is followed from before it is read', async () => {
  await using daemon = await open(shop);
  await daemon.write('watchpost.yaml', shop + smtp);
  await daemon.reloader.reload('asked');
  await daemon.write('password', 'another');
  await daemon.hears(['the files changed: good', 'asked: good']);
});
