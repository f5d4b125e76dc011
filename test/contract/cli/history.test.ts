import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { isDoubtful } from '#store/open.ts';
import { commandHere } from '../../support/command.ts';
import { down, incident, openAt, round, tempFolder, up, vote } from '../../support/store.ts';

const minute = 60_000;

/**
 * A database with ten minutes of two targets, the last of them down at its end, and the configuration that names it. Earlier rounds of
 * that target, by due time, give verdicts for a minute each.
 */
async function past(earlier: Readonly<Record<string, 'up' | 'down'>> = {}, objective = '99.9% over 1d') {
  const folder = tempFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const config = join(folder.path, 'watchpost.yaml');
  writeFileSync(
    config,
    `data: ./watchpost.db
targets:
  shop: { check: tcp, host: "192.0.2.1:80", objective: ${objective} }
  mail: { check: tcp, host: "192.0.2.1:25" }`,
  );
  const store = openAt(join(folder.path, 'watchpost.db'), systemClock);
  const begin = systemClock.now() - 10 * minute;
  const stored: Promise<unknown>[] = Object.entries(earlier).map(async ([at, status]) => {
    const votes = [vote('de1', status === 'up' ? up(0.1) : down())];
    return store.record(
      round('shop', Date.parse(at), { votes, verdict: { status, inMaintenance: false, holdsMs: minute } }),
    );
  });
  for (let index = 0; index <= 10; index += 1) {
    const dueAt = begin + index * minute - 1_000;
    const isDown = index > 8;
    const says = (status: 'up' | 'down') => ({ status, inMaintenance: false, holdsMs: 2 * minute });
    stored.push(store.record(round('mail', dueAt, { votes: [vote('de1', up(0.02))], verdict: says('up') })));
    const votes = [vote('de1', isDown ? down() : up(0.1)), vote('us1', isDown ? down() : up(0.2))];
    stored.push(store.record(round('shop', dueAt, { votes, verdict: says(isDown ? 'down' : 'up') })));
  }
  await store.close();
  await Promise.all(stored);
  const run = async (...args: string[]) => commandHere([...args, '--config', config]);
  return { run, folder: folder.path };
}

test('status shows every target as it is now, and its exit code says that one is down', async () => {
  const { run } = await past();
  const { code, out, err } = await run('status');
  expect([code, err]).toEqual([1, '']);
  expect(out).toMatch(/^1 of 2 targets is up; shop is down\n/);
  expect(out).toMatch(/^mail +up +\d+m.* 100\.00% +100\.00% +- +20 ms +·+█*/m);
  expect(out).toMatch(/^shop +down +\d.* \d+% +/m);
  const [, shop] = JSON.parse((await run('status', '--json')).out);
  expect(shop.budget).toMatchObject({ ratio: 0.999, over_seconds: 86_400, allowed_seconds: expect.closeTo(86.4) });
  expect(shop.budget.left).toBeCloseTo(1 - shop.budget.spent_seconds / 86.4);
  const [mail] = JSON.parse((await run('status', '--json')).out);
  expect(mail).toMatchObject({ target: 'mail', status: 'up', day: { uptime: 1, answers: { up: 11, down: 0 } } });
});

test('a backup and what is looked for in it are told as JSON, too', async () => {
  const { run, folder } = await past();
  const copy = join(folder, 'copy.db');
  const made = JSON.parse((await run('backup', copy, '--json')).out) as { bytes: number };
  expect(made).toMatchObject({ copy, of: join(folder, 'watchpost.db'), bytes: statSync(copy).size });
  const checked = await run('db', 'check', copy, '--json');
  expect(checked).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(checked.out)).toEqual({ file: copy, sound: true, damage: [] });
});

test('on a terminal what is down or failed has a colour, and NO_COLOR takes it away', async () => {
  const { folder } = await past();
  const on = async (env: Record<string, string>, ...args: string[]) =>
    (await commandHere([...args, '--config', join(folder, 'watchpost.yaml')], { interactive: true, env })).out;
  const red = (word: string) => `\u{1b}[31m${word}\u{1b}[39m`;
  expect(await on({}, 'status')).toContain(`shop is ${red('down')}`);
  expect(await on({}, 'history', 'shop', '--since', '1h', '--by', 'node')).toContain(red('2'));
  for (const args of [['status'], ['history', 'shop', '--since', '1h']])
    expect(await on({ NO_COLOR: '1' }, ...args)).not.toContain('\u{1b}');
});

test('history shows steps, nodes, one node, JSON and CSV', async () => {
  const { run } = await past();
  const { out } = await run('history', 'shop', '--since', '1h');
  expect(out).toMatch(
    /^shop, .*: 8\d\.\d+% up, down for 1m( \d+s)?; p95 \d+ ms\nerror budget: -?\d+% left of 99.9% over 1d: \d+[ms]( \d+s)? of 1m 26s spent\n/,
  );
  const byNode = (await run('history', 'shop', '--since', '1h', '--by', 'node')).out;
  expect(byNode).toMatch(/^de1 +81\.81% +- +11 +2 +0 +(?:99|100|101)(?:\.\d)? ms/m);
  const [head, de1] = (await run('history', 'shop', '--by', 'node', '--csv')).out.split('\n');
  expect(head).toMatch(/^part,from,to,uptime,/);
  expect(de1).toMatch(/^de1,.*,9,2,0,0,0\.1,/);
  const us1 = JSON.parse((await run('history', 'shop', '--node', 'us1', '--json')).out);
  expect(us1).toMatchObject({ target: 'shop', seconds: null, answers: { up: 9, down: 2 }, latency: { max: 0.2 } });
});

test('each value of a table for programs is in the column of its name', async () => {
  const { run } = await past();
  const columnsOf = (csv: string) => {
    const [names = [], ...rows] = csv.split('\n').map((line) => line.split(','));
    const [row = []] = rows;
    expect(row).toHaveLength(names.length);
    expect(names).toEqual([...new Set(names)]);
    return Object.fromEntries(names.map((name, index) => [name, row[index]]));
  };
  const textOf = (values: object) => Object.fromEntries(Object.entries(values).map(([name, one]) => [name, `${one}`]));
  const asked = ['history', 'shop', '--since', '1h', '--until', '1m', '--by', 'week'];
  const [part] = JSON.parse((await run(...asked, '--json')).out).parts;
  const row = columnsOf((await run(...asked, '--csv')).out);
  expect(row).toMatchObject(textOf(part.answers));
  expect(row).toMatchObject({ excluded_seconds: '0', max: String(part.latency?.max ?? '') });
  const node = columnsOf((await run('history', 'shop', '--by', 'node', '--csv')).out);
  expect(node).toMatchObject({ part: 'de1', up: '9', down: '2', excluded_seconds: '' });
  const [target] = JSON.parse((await run('report', '--json')).out).targets;
  const reported = columnsOf((await run('report', '--format', 'csv')).out);
  expect(reported).toMatchObject({ target: target.target, up: `${target.answers.up}`, excluded_seconds: '0' });
});

test('a report of this month has every target, the worst first, in four forms', async () => {
  const { run } = await past();
  const month = new Date(systemClock.now() - 10 * minute).toISOString().slice(0, 7);
  const text = (await run('report', '--month', month)).out;
  // Of the month before there is nothing. Figures grow while time goes on, so only what stays the same is compared.
  const subjectOf = (report: string) => ({
    month: /\d{4}-\d{2}/.exec(report)?.[0],
    first: report.split('\n').map((line) => line.split(' ')[0]),
  });
  expect(subjectOf(text).month).toBe(month);
  expect(subjectOf((await run('report')).out)).toEqual(subjectOf(text));
  expect(text.indexOf('\nshop ')).toBeLessThan(text.indexOf('\nmail '));
  expect((await run('report', '--month', month, '--format', 'csv')).out).toContain(`\n${month},shop,0.8`);
  expect((await run('report', '--month', month, '--format', 'csv')).out).toMatch(
    /^month,.*,objective,budget_seconds,budget_left,excluded_seconds\n.*,0\.999,86\.4,-?[\d.]+,0\n/,
  );
  expect(text).toMatch(/^shop .* -?\d+%$/m);
  const { targets } = JSON.parse((await run('report', '--month', month, '--json')).out);
  expect(targets).toMatchObject([
    { target: 'shop', budget: { ratio: 0.999 } },
    { target: 'mail', budget: null },
  ]);
  expect((await run('report', '--month', month, '--format', 'html')).out).toMatch(
    /^<!doctype html>.*<th scope="row">shop<\/th>/s,
  );
});

test.each([1, 1_234])('a report counts all incidents of a month: %i', async (count) => {
  const { run, folder } = await past({ '2026-03-10T11:00:00Z': 'up' });
  const store = openAt(join(folder, 'watchpost.db'), systemClock);
  const at = Date.parse('2026-03-10T12:00:00Z');
  const opened = Array.from({ length: count }, (_, index) => {
    const one = incident('shop', at + index * minute, { endedAt: at + index * minute + 1_000 });
    return store.record(round('shop', one.openedAt, { votes: [vote('de1', down())], incidents: [one] }));
  });
  await Promise.all(opened);
  await store.close();
  const { out } = await run('report', '--month', '2026-03');
  expect(out).toContain(`2026-03: 2 targets, ${count === 1 ? '1 incident' : '1234 incidents'}, `);
  expect(out).toMatch(new RegExp(`^shop .* ${count} `, 'm'));
});

test('the heading of a report counts the incidents of its targets, and says how many others there were', async () => {
  const { run, folder } = await past({ '2026-03-10T11:00:00Z': 'up' });
  const at = Date.parse('2026-03-10T12:00:00Z');
  const store = openAt(join(folder, 'watchpost.db'), systemClock);
  const stored = ['shop', 'removed', 'own connectivity'].map(async (target) =>
    store.record(round(target, at, { incidents: [incident(target, at, { endedAt: at + minute })] })),
  );
  await Promise.all(stored);
  await store.close();
  const { out } = await run('report', '--month', '2026-03');
  expect(out.split('\n')[0]).toBe(
    '2026-03: 2 targets, 1 incident, never down; 2 more incidents were of targets that are not configured now or of Watchpost itself',
  );
});

test('a report of a month in a time zone has what happened from its first midnight to its last there', async () => {
  // The last minutes of February, of March and the first ones of April, in Berlin: summer time begins in between.
  const { run } = await past({
    '2026-02-28T22:58:00Z': 'down',
    '2026-02-28T23:00:00Z': 'up',
    '2026-03-31T21:59:00Z': 'up',
    '2026-03-31T22:00:00Z': 'down',
  });
  const reportOf = async (...args: string[]) => {
    const report = JSON.parse((await run('report', '--month', '2026-03', '--json', ...args)).out);
    const { answers, from, to, seconds } = report.targets.find((one: { target: string }) => one.target === 'shop');
    return { timezone: report.timezone, from, to, answers, seconds };
  };
  expect(await reportOf('--timezone', 'Europe/Berlin')).toEqual({
    timezone: 'Europe/Berlin',
    from: '2026-02-28T23:00:00.000Z',
    to: '2026-03-31T22:00:00.000Z',
    answers: expect.objectContaining({ up: 2, down: 0 }),
    seconds: expect.objectContaining({ up: 120, down: 0 }),
  });
  const inUtc = {
    timezone: 'UTC',
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-04-01T00:00:00.000Z',
    answers: expect.objectContaining({ up: 1, down: 1 }),
    seconds: expect.objectContaining({ up: 60, down: 60 }),
  };
  expect(await reportOf()).toEqual(inUtc);
  expect(await reportOf('--timezone', 'UTC')).toEqual(inUtc);
  const { out } = await run('report', '--month', '2026-03', '--timezone', 'Europe/Berlin');
  expect(out).toMatch(/^2026-03 \(Europe\/Berlin\): 2 targets, 0 incidents, never down\n/);
});

test('a report has the budget of the calendar month that its own month ends in', async () => {
  const { run } = await past(
    { '2026-02-28T22:58:00Z': 'down', '2026-03-20T12:00:00Z': 'down', '2026-03-31T22:00:00Z': 'down' },
    '99.9% over month in Europe/Berlin',
  );
  const budgetOf = async (zone: string) => {
    const { targets } = JSON.parse((await run('report', '--month', '2026-03', '--timezone', zone, '--json')).out);
    return targets.find((one: { target: string }) => one.target === 'shop').budget;
  };
  expect(await budgetOf('Europe/Berlin')).toMatchObject({
    over_seconds: 743 * 3_600,
    month_in: 'Europe/Berlin',
    spent_seconds: 60,
  });
  // In Berlin the first of April is two hours old by then.
  expect(await budgetOf('UTC')).toMatchObject({ over_seconds: 30 * 86_400, spent_seconds: 60, left: 1 - 60 / 2_592 });
  expect((await run('history', 'shop')).out).toContain(' left of 99.9% over month in Europe/Berlin: ');
});

test('a report has the budget of its own month also if only whole days of UTC are retained of it', async () => {
  const { run, folder } = await past(
    { '2026-02-28T22:58:00Z': 'down', '2026-03-20T12:00:00Z': 'down', '2026-03-31T22:00:00Z': 'down' },
    '99.9% over month in Europe/Berlin',
  );
  using database = new DatabaseSync(join(folder, 'watchpost.db'));
  const mark = database.prepare('INSERT OR REPLACE INTO marks (name, value) VALUES (?, ?)');
  for (const name of ['days_until', 'hours_until', 'hours_from', 'results_from'])
    mark.run(name, Date.parse('2026-05-01T00:00:00Z'));
  const { out } = await run('report', '--month', '2026-03', '--timezone', 'Europe/Berlin', '--json');
  const [shop] = JSON.parse(out).targets.filter((one: { target: string }) => one.target === 'shop');
  expect([shop.from, shop.to]).toEqual(['2026-02-28T00:00:00.000Z', '2026-04-01T00:00:00.000Z']);
  expect(shop.budget).toMatchObject({ over_seconds: 743 * 3_600, spent_seconds: 60 });
});

test.each([
  { args: ['history', 'nobody'], says: 'there is no target nobody' },
  { args: ['history', 'shop', '--since', 'yesterday'], says: 'Expected a duration such as 30d' },
  { args: ['history', 'shop', '--since', '1h', '--until', '2h'], says: 'ends before it begins' },
  { args: ['report', '--month', '2026-13'], says: 'Expected a month such as 2026-10' },
  { args: ['report', '--month', '9999-01'], says: '--month 9999-01 has not begun yet in UTC' },
  {
    args: ['report', '--timezone', 'Europe/Berln'],
    says: 'No time zone is named "Europe/Berln" (did you mean "Europe/Berlin"?).',
  },
])('$args is refused: $says', async ({ args, says }) => {
  const { run } = await past();
  const { code, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain(says);
});

test('a backup while a daemon holds the database is whole, private, and never takes the place of a file', async () => {
  const { run, folder } = await past();
  await using _ = openAt(join(folder, 'watchpost.db'), systemClock);
  const copy = join(folder, 'copy.db');
  expect(await run('backup', copy)).toMatchObject({ code: 0, err: '' });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(await run('db', 'check', copy)).toMatchObject({ code: 0, out: `${copy}: sound\n` });
  expect(await run('backup', copy)).toMatchObject({ code: 2 });
  const nowhere = await run('backup', join(folder, 'none', 'copy.db'));
  expect(nowhere).toMatchObject({
    code: 2,
    err: expect.stringContaining(`there is no folder ${join(folder, 'none')}`),
  });
  expect(await run('db', 'check')).toMatchObject({ code: 0 });
});

test('a copy is checked where there is no configuration, too', async () => {
  const { run, folder } = await past();
  const copy = join(folder, 'copy.db');
  await run('backup', copy);
  expect(await commandHere(['db', 'check', copy])).toMatchObject({ code: 0, out: `${copy}: sound\n` });
});

test('a damaged copy is said to be damaged', async () => {
  const { run, folder } = await past();
  const copy = join(folder, 'copy.db');
  writeFileSync(copy, 'no database');
  const { code, err } = await run('db', 'check', copy);
  expect(code).toBe(1);
  expect(err).toContain('not a sound database');
});

test('NFS is refused with a way out, SMB is doubtful, a disk is neither', () => {
  expect(() => isDoubtful(0x6969, '/mnt/share')).toThrow(/^\/mnt\/share: is on NFS.*local disk/);
  expect(isDoubtful(0xff534d42, '/mnt/share')).toBe(true);
  expect(isDoubtful(0xef53, '/data')).toBe(false);
});
