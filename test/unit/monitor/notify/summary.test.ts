import { expect, test } from 'vitest';
import type { SummaryFacts } from '#monitor/notify/summary-facts.ts';
import { startSummary } from '#monitor/notify/summary.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { accepted, hang, RecordingChannel, refusedForGood, refusedForNow } from '../../../support/recording-channel.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const hour = 3_600_000;
const day = 24 * hour;

function open(pattern = '0 8 * * *', recipients: readonly string[] = ['ops@example.com']) {
  const clock = new FakeClock('2026-01-05T06:00:00Z');
  const email = new RecordingChannel();
  const asked: (readonly [number, number])[] = [];
  const store = {
    async summarise(from: number, to: number): Promise<SummaryFacts> {
      asked.push([from, to]);
      return { from, to, knownFrom: from, targets: [], uptime: null, incidents: [] };
    },
  };
  const summary = startSummary({
    store,
    channels: [email],
    clock,
    random: seededRandom(),
    log: memoryLog().log,
    schedule: { kind: 'cron', pattern, timezone: 'Europe/Berlin' },
    recipients: () => recipients.map((recipient) => ({ channel: 'email', recipient, zone: 'Europe/Berlin' })),
  });
  return { clock, email, asked, summary };
}

test('tells every day about the day before, within the minute that it is due in', async () => {
  const { clock, email, asked, summary } = open();
  await clock.advance(3 * day);
  await summary.stop();
  expect(email.subjects).toEqual(Array<string>(3).fill('[SUMMARY] 0 targets: no verdicts, 0 incidents'));
  for (const [from, to] of asked) {
    expect(to - from).toBe(day);
    expect(new Date(to).toISOString()).toMatch(/T07:00/);
  }
  expect(new Set(email.attempts.map(({ message }) => message.id)).size).toBe(3);
  expect(clock.pending).toBe(0);
});

test('covers the time since the last one, whatever the pattern: Monday tells Friday to Sunday as well', async () => {
  const { clock, asked, summary } = open('0 8 * * MON-FRI');
  await clock.advance(8 * day);
  await summary.stop();
  const spans = asked.map(([from, to]) => (to - from) / day);
  expect(spans).toEqual([3, 1, 1, 1, 1, 3]);
  for (const [index, [from]] of asked.slice(1).entries()) expect(from).toBe(asked[index]?.[1]);
});

test('a machine that slept over several sends one again at its next due time', async () => {
  const { clock, asked, summary } = open();
  await clock.advance(day);
  expect(asked).toHaveLength(1);
  clock.step(4 * day);
  await clock.advance(day);
  expect(asked.map(([, to]) => new Date(to).toISOString().slice(0, 10))).toEqual(['2026-01-05', '2026-01-10']);
  await summary.stop();
  expect(clock.pending).toBe(0);
});

test('a clock that is set back goes on with the days that it reads, and a jitter of it repeats none', async () => {
  const { clock, asked, summary } = open();
  await clock.advance(day);
  clock.step((asked[0]?.[1] ?? 0) - clock.now() - 400);
  await clock.advance(hour);
  expect(asked).toHaveLength(1);
  clock.step(-2 * day);
  await clock.advance(2 * day);
  expect(asked.length).toBeGreaterThanOrEqual(3);
  await summary.stop();
  expect(clock.pending).toBe(0);
});

test('is tried again with the same id until a server takes it', async () => {
  const { clock, email, summary } = open();
  email.answer = () => refusedForNow;
  await clock.advance(2 * hour);
  const before = email.attempts.length;
  expect(before).toBeGreaterThan(3);
  email.answer = () => accepted;
  await clock.advance(hour);
  expect(email.attempts).toHaveLength(before + 1);
  expect(new Set(email.attempts.map(({ message }) => message.id)).size).toBe(1);
  await summary.stop();
});

test('is given up when it is refused for good, or when the next one is due', async () => {
  const { clock, email, summary } = open();
  email.answer = () => refusedForGood;
  await clock.advance(day);
  expect(email.attempts).toHaveLength(1);
  email.answer = () => refusedForNow;
  await clock.advance(2 * day);
  email.answer = () => accepted;
  await clock.advance(day);
  expect(new Set(email.attempts.map(({ message }) => message.at)).size).toBe(4);
  await summary.stop();
});

test('goes to the others every day, whoever hangs when the next one is due', async () => {
  const { clock, email, summary } = open('0 8 * * *', ['hangs@example.com', 'well@example.com']);
  email.attemptMs = 40 * 60_000;
  email.answer = async (attempt) => (attempt.recipient.startsWith('hangs') ? hang(attempt) : accepted);
  await clock.advance(10 * day);
  expect(email.recipients.filter((one) => one === 'well@example.com')).toHaveLength(10);
  await summary.stop();
  expect(clock.pending).toBe(0);
});

test('goes to a few at a time, and whose server hangs holds up others for seconds', async () => {
  const many = Array.from({ length: 40 }, (_, index) => `${index < 8 ? 'hangs' : 'well'}${index}@example.com`);
  const { clock, email, summary } = open('0 8 * * *', many);
  email.answer = async (attempt) => (attempt.recipient.startsWith('hangs') ? hang(attempt) : accepted);
  while (email.attempts.length === 0) await clock.advance(1_000);
  expect(email.recipients).toEqual(many.slice(0, 4));
  await clock.advance(15_000);
  expect(new Set(email.recipients)).toEqual(new Set(many));
  await summary.stop();
  expect(clock.pending).toBe(0);
});
