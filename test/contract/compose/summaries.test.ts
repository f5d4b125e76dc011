import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startPeriodicJobs } from '#compose/delivery.ts';
import { openReader, summariesOf } from '#compose/history.ts';
import { loadConfig } from '#config/load.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { accepted, RecordingChannel, refusedForNow } from '../../support/recording-channel.ts';
import { target } from '../../support/scenario.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { down, openAt, round, start, tempFolder, up, vote } from '../../support/store.ts';

const step = 10 * 60_000;

test('a summary covers its whole period out of sealed hours, long after single results are forgotten', async () => {
  using folder = tempFolder();
  const end = start + 8 * dayMs;
  const clock = new FakeClock(new Date(start).toISOString());
  const retention = { rawMs: hourMs, hoursMs: 730 * dayMs, daysMs: null, verdictsMs: null, incidentsMs: null };
  await using store = openAt(join(folder.path, 'watchpost.db'), clock, { retention });
  clock.hold(end - start);
  const stored: Promise<unknown>[] = [];
  for (let at = start; at < end; at += step) {
    const isDown = at >= start + 3 * dayMs && at < start + 3 * dayMs + 2 * hourMs;
    const verdict = { inMaintenance: false, holdsMs: 2 * step } as const;
    const shop = {
      votes: [vote('de1', isDown ? down() : up(0.2))],
      verdict: { ...verdict, status: isDown ? 'down' : 'up' },
    } as const;
    stored.push(store.record(round('shop', at, shop)));
    stored.push(
      store.record(round('mail', at, { votes: [vote('de1', up(0.01))], verdict: { ...verdict, status: 'up' } })),
    );
  }
  await clock.advance(2_000);
  await Promise.all(stored);
  while (store.upkeep());
  expect((await openReader(store.history, () => ({ targets: [] }), clock).kept()).resultsFrom).toBeGreaterThan(
    end - 3 * hourMs,
  );

  const objective = { ratio: 0.99, overMs: 7 * dayMs };
  const targets = [target('shop', { objective }), target('mail')];
  const summaries = summariesOf(
    openReader(store.history, () => ({ targets }), clock),
    store,
  );
  const facts = await summaries.summarise(start, start + 7 * dayMs);
  const rounds = (7 * dayMs) / step;
  expect(facts).toMatchObject({
    from: start,
    to: start + 7 * dayMs,
    uptime: 1 - 2 / (2 * 7 * 24),
    targets: [
      { target: 'mail', up: rounds, down: 0, uptime: 1, budget: null },
      { target: 'shop', up: rounds - 12, down: 12, uptime: 1 - 2 / (7 * 24), budget: { spentMs: 2 * hourMs } },
    ],
  });
  expect(facts.knownFrom).toBeLessThanOrEqual(start);
  expect(facts.targets[1]?.p95Seconds).toBeCloseTo(0.2, 2);
  expect(facts.targets[1]?.budget?.left).toBeCloseTo(1 - 2 / (7 * 24 * 0.01), 6);
});

const notify = `
  ops: { email: { to: [ann@example.com, bob@example.com] } }
  boss: { email: { to: [eve@example.com, ann@example.com] } }`;

/** The periodic jobs of a configuration that sends summaries to `ops` and `boss` at eight. */
async function open() {
  const folder = tempFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const load = async (recipients: string, summary: string) => {
    const path = join(folder.path, 'watchpost.yaml');
    await writeFile(
      path,
      `
targets: { shop: { check: tcp, host: "127.0.0.1:9" } }
notify: ${recipients}
${summary}
`,
    );
    return loadConfig({ path, env: {} });
  };
  const clock = new FakeClock(new Date(start).toISOString());
  const email = new RecordingChannel();
  const logged = memoryLog();
  const jobs = startPeriodicJobs(await load(notify, 'summary: { cron: "0 8 * * *", notify: [ops, boss] }'), {
    clock,
    random: seededRandom(),
    log: logged.log,
    identity: '',
    store: { notifiedAndOpen: () => [] },
    summaries: {
      summarise: async (from, to) => ({ from, to, knownFrom: from, targets: [], uptime: null, incidents: [] }),
    },
    outbox: { refusedMs: () => 0 },
    channels: [email],
    linkTo: () => null,
    pulses: [],
  });
  return { clock, email, logged, jobs, load };
}

test('a recipient that is under two of the names that get a summary gets one', async () => {
  const { clock, email, jobs } = await open();
  await clock.advance(dayMs);
  await jobs.stop();
  expect(email.recipients).toEqual(['ann@example.com', 'bob@example.com', 'eve@example.com']);
});

describe('a summary that waits for its server while the configuration changes', () => {
  const other = '\n  night: { email: { to: [sam@example.com] } }';

  test.each([
    {
      name: 'recipients',
      recipients: `${notify}${other}`,
      summary: '{ cron: "0 8 * * *", notify: [ops, boss, night] }',
    },
    { name: 'times', recipients: notify, summary: '{ cron: "0 20 * * 1", notify: [ops, boss] }' },
  ])('is delivered although the $name are others, and goes to nobody twice', async ({ recipients, summary }) => {
    const { clock, email, jobs, load } = await open();
    email.answer = ({ recipient }) => (recipient === 'bob@example.com' ? refusedForNow : accepted);
    await clock.advance(9 * hourMs);
    expect(email.recipients.filter((one) => one !== 'bob@example.com')).toHaveLength(2);
    jobs.update(await load(recipients, `summary: ${summary}`));
    await clock.advance(hourMs);
    email.answer = () => accepted;
    const failed = email.attempts.length;
    await clock.advance(6 * hourMs);
    expect(email.recipients.slice(failed)).toEqual(['bob@example.com']);
    const toBob = email.attempts.filter(({ recipient }) => recipient === 'bob@example.com');
    expect(new Set(toBob.map(({ message }) => message.id)).size).toBe(1);
    await jobs.stop();
    expect(clock.pending).toBe(0);
  });

  test('is for the recipients that it has by then', async () => {
    const { clock, email, logged, jobs, load } = await open();
    email.answer = ({ recipient }) => (recipient === 'eve@example.com' ? accepted : refusedForNow);
    await clock.advance(9 * hourMs);
    jobs.update(await load(notify.replace(', bob@example.com', ''), 'summary: { cron: "0 8 * * *", notify: [ops] }'));
    email.answer = () => accepted;
    const before = email.attempts.length;
    await clock.advance(hourMs);
    expect(email.recipients.slice(before)).toEqual(['ann@example.com']);
    expect(logged.lines.map(({ msg }) => msg)).toContain('summary not delivered: this recipient gets none any more');
    await clock.advance(dayMs);
    await jobs.stop();
    expect(email.recipients.slice(before)).toEqual(['ann@example.com', 'ann@example.com']);
  });

  test('is sent if it became due while the program was held up, by the times before', async () => {
    const { clock, email, jobs, load } = await open();
    await clock.advance(new Date(start).setUTCHours(7, 59) - start);
    clock.hold(2 * 60_000);
    jobs.update(await load(notify, 'summary: { cron: "0 20 * * 1", notify: [boss] }'));
    await clock.advance(hourMs);
    expect(email.recipients).toEqual(['eve@example.com', 'ann@example.com']);
    await jobs.stop();
    expect(clock.pending).toBe(0);
  });

  test('ends when the program does', async () => {
    const { clock, email, jobs, load } = await open();
    email.answer = () => refusedForNow;
    await clock.advance(9 * hourMs);
    jobs.update(await load(notify, 'summary: { cron: "0 20 * * *", notify: [ops, boss] }'));
    await clock.advance(hourMs);
    await jobs.stop();
    expect(clock.pending).toBe(0);
  });
});
