import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '#kernel/clock.ts';
import { openReader, startUpkeep, summariesOf } from '#compose/history.ts';
import { startMonitor } from '#monitor/monitor.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import type { RoundListener, RunResult, WatchHandle, WatchedTarget } from '#monitor/watch/runner.ts';
import { createNextDue } from '#schedule/schedule.ts';
import { openStore } from '#store/sqlite.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { RecordingChannel } from '../../support/recording-channel.ts';
import { target } from '../../support/scenario.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { down, nodeInfo, up } from '../../support/votes.ts';

const hour = 3_600_000;
const day = 24 * hour;
const interval = 6 * hour;
const berlin = 'Europe/Berlin';
const nodes = ['de1', 'us1'].map((name) => nodeInfo(name));
const start = Date.parse('2026-01-01T00:00:00Z');
const end = Date.parse('2027-01-01T00:00:00Z');

/** Whoever only looks from time to time does so every six hours: a year has half a million minutes. */
function unhurried(clock: FakeClock): Clock {
  const isLook = (ms: number) => ms >= 5_000 && ms < interval;
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after: (ms, action) => clock.after(isLook(ms) ? interval : ms, action),
  };
}

/** Looks whenever it is due, by one timer each: those that keep the time look at the clock every minute besides. */
function watchExactly(
  watched: WatchedTarget,
  listener: RoundListener,
  run: (asked: Pick<WatchedTarget, 'spec'>) => Promise<RunResult>,
  clock: FakeClock,
): WatchHandle {
  const next = createNextDue(watched.schedule, watched.name);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let timer = wait();
  function wait(): Disposable {
    const dueAt = next(clock.now()) ?? Number.MAX_SAFE_INTEGER;
    return clock.after(dueAt - clock.now(), () => {
      timer = wait();
      void run(watched).then(({ votes }) => listener.round({ dueAt, startedAt: dueAt, votes }));
    });
  }
  function stop(): void {
    timer[Symbol.dispose]();
    resolve();
  }
  return { underWay: false, stop, cut: stop, ended };
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-year-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

// The shop is down on the second of every month.
const isOutage = (at: number) => new Date(at).getUTCDate() === 2;

test('a year: what is old goes, what is told is told once, clocks change twice, and the file stays small', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const calm = unhurried(clock);
  const { log, lines } = memoryLog();
  const shop = target('shop', { schedule: { kind: 'every', everyMs: interval } });
  const nightly = target('nightly', {
    schedule: { kind: 'cron', pattern: '30 2 * * *', timezone: berlin },
    recipients: [],
  });
  const targets = [shop, nightly];
  const retention = {
    rawMs: 30 * day,
    hoursMs: 120 * day,
    daysMs: null,
    verdictsMs: null,
    incidentsMs: 45 * day,
    checksMs: day,
  };
  await using store = openStore({ path: join(folder, 'watchpost.db'), clock: calm, log, pid: process.pid, retention });
  using upkeep = new DisposableStack();
  upkeep.use(startUpkeep(store, { clock: calm, log, onDone: () => {}, onJudged: () => {} }));
  const run = async ({ spec }: { readonly spec: { readonly host: string } }) => {
    const isDown = spec.host.startsWith('shop') && isOutage(clock.now());
    return { votes: nodes.map((node) => ({ node, outcome: isDown ? down() : up(0.1) })), reportUrl: null };
  };
  const channel = new RecordingChannel();
  const outbox = createOutbox({
    store,
    channels: [channel],
    clock: calm,
    random: seededRandom(1),
    log,
    policyOf: () => alone,
    linkTo: () => null,
  });
  const history = openReader(store.history, () => ({ targets: [shop, nightly] }), clock);
  const rounds: { target: string; dueAt: number; inMaintenance: boolean }[] = [];
  const monitor = startMonitor(
    {
      targets,
      maintenance: [
        { targets: ['nightly'], time: { kind: 'cron', pattern: '0 2 * * *', timezone: berlin, durationMs: hour } },
      ],
    },
    {
      runner: {
        nodes: () => nodes,
        run,
        watch: (watched, listener) => watchExactly(watched, listener, run, clock),
        waitedMs: () => 0,
      },
      store,
      clock: calm,
      log,
      wakeOutbox: () => outbox.wake(),
      onUnstored: () => {},
      events: {
        roundAwaited() {},
        roundSkipped() {},
        roundDone: ({ name }, { dueAt, inMaintenance }) => void rounds.push({ target: name, dueAt, inMaintenance }),
        recorded() {},
        unwatched() {},
      },
    },
  );
  outbox.start();

  const sizes: number[] = [];
  const weeks: { readonly hours: number; readonly shop: number; readonly nightly: number }[] = [];
  const summaries = summariesOf(history, store);
  const monday = createNextDue({ kind: 'cron', pattern: '0 8 * * MON', timezone: berlin }, 'summary');
  let [from, to] = [start, monday(start) ?? end];
  while (to < end) {
    await clock.advance(to - clock.now());
    const { targets: seen } = await summaries.summarise(from, to);
    const answersOf = (name: string) =>
      seen.filter((one) => one.target === name).reduce((sum, { up: ups, down: downs }) => sum + ups + downs, 0);
    weeks.push({ hours: (to - from) / hour, shop: answersOf('shop'), nightly: answersOf('nightly') });
    sizes.push(store.bytes());
    [from, to] = [to, monday(to) ?? end];
  }
  await clock.advance(end - clock.now());

  // Rounds: each interval, each night, the nights on which clocks were changed too.
  // Those that are looked at besides, as witnesses of an outage, are not due.
  const byNight = (dueAt: number) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: berlin, hour: '2-digit', hourCycle: 'h23' }).format(dueAt);
  const nights = rounds.filter((round) => round.target === 'nightly' && ['02', '03'].includes(byNight(round.dueAt)));
  expect(nights).toHaveLength(365);
  expect(nights.every(({ inMaintenance }) => inMaintenance)).toBe(true);
  const looks = rounds.filter((round) => round.target === 'shop');
  expect(new Set(looks.map(({ dueAt }) => Math.floor(dueAt / interval))).size).toBe((end - start) / interval);

  // Told: twelve outages, each with its beginning and its end, and nothing else.
  expect(channel.subjects.filter((subject) => subject.startsWith('[DOWN]'))).toHaveLength(12);
  expect(channel.subjects.filter((subject) => subject.startsWith('[RESOLVED]'))).toHaveLength(12);
  expect(channel.subjects).toHaveLength(24);

  // Summaries: every Monday at eight by the clock on the wall; two weeks of the year are an hour shorter and longer.
  expect(weeks).toHaveLength(52);
  expect(
    weeks
      .slice(1)
      .filter(({ hours: length }) => length !== 168)
      .map(({ hours: length }) => length),
  ).toEqual([167, 169]);
  expect(
    weeks.slice(1).every(({ shop: answers, nightly: others }) => answers >= 54 && others >= 14 && others <= 16),
  ).toBe(true);

  // Retention, as far as one look sees: results of a month, incidents of six weeks, days for ever.
  const kept = await history.kept();
  expect(end - kept.resultsFrom).toBeLessThan(33 * day);
  expect(end - kept.hoursFrom).toBeLessThan(123 * day);
  expect(kept.daysFrom).toBeLessThanOrEqual(start + day);
  const { incidents } = await history.incidents({ limit: 100 });
  expect(incidents.map(({ startedAt }) => new Date(startedAt).getUTCMonth() + 1)).toEqual([12]);
  const [year] = await history.byTarget({ from: start, to: end, of: { target: 'shop' } });
  const answers = (2 * (end - start)) / interval;
  expect(year?.answers).toMatchObject({ unknown: 0 });
  expect((year?.answers.up ?? 0) + (year?.answers.down ?? 0)).toBeGreaterThanOrEqual(answers - 8);
  expect(year?.uptime).toBeCloseTo(1 - (12 * day) / (end - start), 2);

  // Disk: once results are forgotten, a month adds next to nothing.
  const [june = 0, december = 0] = [sizes[25], sizes[51]];
  expect(december - june).toBeLessThan(june / 2);
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);

  const stopped = monitor.stop(0);
  await clock.advance(0);
  await stopped;
  await outbox.stop();
});
