import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fingerprintOf, watchForChanges } from '#config/apply/changes.ts';
import type { Config } from '#config/config.ts';
import { openConfigSource } from '#config/apply/config-source.ts';
import { validationSteps } from '#config/check/validate.ts';
import { loadConfig } from '#config/load.ts';
import { yamlSteps } from '#config/read/yaml.ts';
import { createReloader } from '#config/apply/reload.ts';
import { isSame } from '#config/apply/same.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Steps } from '#kernel/turns.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { silentLog } from '../../support/metrics.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-reload-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const text = (more = '') => `targets: { shop: { check: tcp, host: "shop.example.com:443" } }\n${more}`;
const applied = { added: [], changed: ['shop'], removed: [] };

async function start(first = text()) {
  const path = join(folder, 'watchpost.yaml');
  await writeFile(path, first);
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  const plans: Config[] = [];
  const outcomes: boolean[] = [];
  let print = 'first';
  let read: string | null = null;
  const { promise: reloaded, resolve } = Promise.withResolvers<void>();
  const reloader = createReloader({
    config: await loadConfig({ path, env: {} }),
    source: {
      async load(signal) {
        read = print;
        return loadConfig({ path, env: {}, signal });
      },
      fingerprint: async () => print,
      fingerprintRead: () => read,
      lists: () => [],
    },
    clock,
    log,
    apply: (config) => {
      plans.push(config);
      return applied;
    },
    onReloaded(ok) {
      outcomes.push(ok);
      resolve();
    },
  });
  const write = async (content: string) => {
    await writeFile(path, content);
    print = content;
  };
  return { reloader, clock, lines, plans, outcomes, write, reloaded };
}

test('a valid configuration is applied, and what needs a restart is named', async () => {
  const { reloader, plans, outcomes, lines, write } = await start();
  await write(
    text(
      'data: other.db\nhttp: { listen: 127.0.0.1:9999, public_url: "https://status.example.com" }\nmaintenance: [{ targets: all, cron: "0 3 * * *", duration: 1h }]\nmetrics: { blackbox: true, buckets: [1], pair_limit: 500 }',
    ),
  );
  expect(await reloader.reload('asked')).toEqual({ ok: true, needsRestart: ['data', 'http.listen'], ...applied });
  expect(plans.at(-1)?.maintenance).toHaveLength(1);
  expect(plans.at(-1)?.metrics).toEqual({ blackbox: true, buckets: [1], pairLimit: 500 });
  expect(outcomes).toEqual([true]);
  expect(plans.at(-1)?.http).toMatchObject({ port: 8080, publicUrl: 'https://status.example.com' });
  expect(await reloader.reload('again')).toMatchObject({ ok: true, needsRestart: ['data', 'http.listen'] });
  expect(reloader.reports).toMatchObject([
    { cause: 'again', result: { ok: true, ...applied } },
    { cause: 'asked', result: { ok: true } },
  ]);
  // It is said once, and again where it is changed again.
  expect(lines.map(({ msg }) => msg)).toEqual([
    'some changes take effect after a restart',
    'configuration reloaded',
    'configuration reloaded',
  ]);
  reloader[Symbol.dispose]();
});

test('an invalid configuration changes nothing, and every mistake is named', async () => {
  const { reloader, plans, outcomes, write } = await start();
  await write(text('rules: { down: { rounds: 0, recover: 0 } }'));
  const result = await reloader.reload('asked');
  expect(result).toMatchObject({ ok: false });
  expect(result.ok ? [] : result.problems).toHaveLength(2);
  await write(text());
  await reloader.reload('asked');
  expect([plans.length, outcomes]).toEqual([1, [false, true]]);
  reloader[Symbol.dispose]();
});

test('reloads follow each other, and a defect of one does not keep the next from running', async () => {
  let runs = 0;
  let most = 0;
  let calls = 0;
  const reloader = createReloader({
    config: await loadConfig({ path: join(folder, 'watchpost.yaml'), env: {} }),
    source: {
      async load() {
        runs += 1;
        most = Math.max(most, runs);
        calls += 1;
        await new Promise(setImmediate);
        runs -= 1;
        if (calls === 1) throw new TypeError('a defect');
        return loadConfig({ path: join(folder, 'watchpost.yaml'), env: {} });
      },
      fingerprint: async () => '',
      fingerprintRead: () => '',
      lists: () => [],
    },
    clock: new FakeClock(),
    log: memoryLog().log,
    apply: () => applied,
    onReloaded: () => {},
  });
  const results = await Promise.allSettled([reloader.reload('a'), reloader.reload('b'), reloader.reload('c')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(most).toBe(1);
  reloader[Symbol.dispose]();
});

test('files that were written are read within ten seconds, and not again', async () => {
  const { reloader, clock, plans, write, reloaded } = await start();
  await clock.advance(60_000);
  expect(plans).toHaveLength(0);
  await write(text('data: other.db'));
  await clock.advance(11_000);
  await reloaded;
  await clock.advance(60_000);
  expect(plans).toHaveLength(1);
  reloader[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});

test.each([
  ['a good file', text('data: other.db')],
  ['a file with a mistake', text('rules: 5')],
])('%s that was read because somebody asked is not read again because it changed', async (_, written) => {
  const { reloader, clock, write } = await start();
  await clock.advance(60_000);
  await write(written);
  // It was looked at once before.
  await clock.advance(5_000);
  await reloader.reload('asked');
  await clock.advance(60_000);
  // Comes after whatever began by then.
  await reloader.reload('last');
  expect(reloader.reports.map(({ cause }) => cause)).toEqual(['last', 'asked']);
  reloader[Symbol.dispose]();
});

test('what is written while the files are read is a change', async () => {
  const { reloader, clock, outcomes, write, reloaded } = await start();
  await clock.advance(60_000);
  await write(text('data: other.db'));
  const asked = reloader.reload('asked');
  await reloaded;
  await write(text('data: third.db'));
  await asked;
  await clock.advance(11_000);
  await expect.poll(() => outcomes).toEqual([true, true]);
  reloader[Symbol.dispose]();
});

test('a stop ends a reload: what was read is not applied, and is no mistake in the files', async () => {
  const { reloader, clock, plans, outcomes, lines, write } = await start();
  await write(manyTargets(2_000));
  const asked = reloader.reload('asked');
  // By then it reads.
  await new Promise(setImmediate);
  reloader[Symbol.dispose]();
  expect(await asked).toEqual({ ok: false, problems: ['Watchpost is stopping'] });
  expect([plans, outcomes, lines]).toEqual([[], [], []]);
  expect(clock.pending).toBe(0);
});

test('a target that says the same stays the same object', async () => {
  const two = (every: string) =>
    `targets:\n  shop: { check: tcp, host: "shop.example.com:443" }\n  blog: { check: tcp, host: "blog.example.com:443", every: ${every} }\n`;
  const { reloader, plans, write } = await start(two('1m'));
  const before = reloader.inForce.targets;
  await write(two('2m'));
  await reloader.reload('asked');
  const after = plans.at(-1)?.targets ?? [];
  expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name));
  expect(after.map((target) => before.includes(target))).toEqual(before.map(({ name }) => name === 'shop'));
  reloader[Symbol.dispose]();
});

test('reading and judging thousands of targets is work in small steps', () => {
  const reading = counted(yamlSteps({ file: 'x', text: manyTargets(2_000) }, 0, {}));
  const judging = counted(validationSteps(reading.result.root, [], false));
  expect(judging.result.targets).toHaveLength(2_000);
  expect(reading.steps).toBeGreaterThan(500);
  expect(judging.steps).toBeGreaterThan(2_000);
});

function manyTargets(count: number): string {
  const target = (index: number) =>
    `  target${index}: { check: http, host: "http://127.0.0.1:8080/${index}", every: 20s }`;
  return `targets:\n${Array.from({ length: count }, (_, index) => target(index)).join('\n')}\n`;
}

function counted<Result>(work: Steps<Result>): { readonly steps: number; readonly result: Result } {
  for (let steps = 1; ; steps += 1) {
    const step = work.next();
    if (step.done === true) return { steps, result: step.value };
  }
}

test('a change is told once nobody writes any more, and files that cannot be looked at are no change', async () => {
  const clock = new FakeClock();
  const { log, lines } = memoryLog();
  let print: string | Error = 'a';
  let changes = 0;
  using _ = watchForChanges({
    clock,
    log,
    everyMs: 1_000,
    fingerprint: async () => {
      if (print instanceof Error) throw print;
      return print;
    },
    onChange: () => (changes += 1),
  });
  await clock.advance(1_500);
  for (const next of ['b', new Error('gone'), 'c', 'd']) {
    print = next;
    await clock.advance(1_000);
  }
  expect(changes).toBe(0);
  await clock.advance(1_000);
  expect(changes).toBe(1);
  await clock.advance(10_000);
  expect(changes).toBe(1);
  expect(lines).toEqual([]);
  for (const next of [new Error('no disk'), 'd', new Error('no disk')]) {
    print = next;
    await clock.advance(5_000);
  }
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ['cannot watch the configuration files', 'no disk'],
    ['cannot watch the configuration files', 'no disk'],
  ]);
  expect(changes).toBe(1);
});

test('the fingerprint changes with the files, in a folder with those that belong to the configuration only', async () => {
  const own = await mkdtemp(join(folder, 'own-'));
  const file = join(own, 'a.yaml');
  await writeFile(file, 'a: 1');
  const first = [await fingerprintOf(own), await fingerprintOf(file)];
  expect([await fingerprintOf(own), await fingerprintOf(file)]).toEqual(first);
  await writeFile(join(own, 'notes.txt'), 'x');
  expect(await fingerprintOf(own)).toBe(first[0]);
  await writeFile(join(own, 'next'), 'a: 2');
  await rename(join(own, 'next'), file);
  expect(await fingerprintOf(own)).not.toBe(first[0]);
  expect(await fingerprintOf(file)).not.toBe(first[1]);
  await rm(file);
  await expect(fingerprintOf(file)).rejects.toThrow('ENOENT');
});

test('what cannot be put into force changes nothing, like a file that is wrong', async () => {
  const path = join(folder, 'prepared.yaml');
  await writeFile(path, text());
  const { log } = memoryLog();
  const plans: Config[] = [];
  const config = await loadConfig({ path, env: {} });
  using reloader = createReloader({
    config,
    source: {
      load: async () => loadConfig({ path, env: {} }),
      fingerprint: async () => 'same',
      fingerprintRead: () => 'same',
      lists: () => [],
    },
    clock: new FakeClock(),
    log,
    prepare() {
      throw new WatchpostError('config_invalid', 'the template cannot be used');
    },
    apply: (next) => {
      plans.push(next);
      return applied;
    },
    onReloaded: () => {},
  });
  expect(await reloader.reload('asked')).toEqual({ ok: false, problems: ['the template cannot be used'] });
  expect(plans).toEqual([]);
  expect(reloader.inForce).toBe(config);
});

test('a file that the configuration names is part of it: a secret that is written, or gone, is a change', async () => {
  const path = join(folder, 'secrets.yaml');
  const secret = join(folder, 'password');
  await writeFile(secret, 'one');
  await writeFile(
    path,
    text('smtp: { url: smtps://mail.example.com, username: a, password_file: password, from: a@example.com }'),
  );
  const source = openConfigSource({ path, env: {}, clock: new FakeClock(), log: silentLog });
  const first = await source.load();
  const before = await source.fingerprint();
  expect(await source.fingerprint()).toBe(before);
  await writeFile(secret, 'another');
  expect(await source.fingerprint()).not.toBe(before);
  const second = await source.load();
  expect(isSame(first, first)).toBe(true);
  expect(isSame(first.sections, second.sections)).toBe(false);
  expect(isSame({ ...first, sections: {} }, { ...second, sections: {} })).toBe(true);
  await rm(secret);
  const gone = await source.fingerprint();
  await expect(source.load()).rejects.toThrow('password');
  await writeFile(secret, 'third');
  expect(await source.fingerprint()).not.toBe(gone);
});
