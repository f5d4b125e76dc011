import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration } from '#kernel/units.ts';
import { createExpected } from '#monitor/heartbeats/expected.ts';
import { type Ping, newlyHeard, nextAlarm, takeBeat } from '#monitor/heartbeats/hear.ts';
import type { HeartbeatState } from '#monitor/judge/heard.ts';

const day = Date.parse('2026-03-02T00:00:00Z');
const minute = 60_000;
const at = (clock: string) => {
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  return day + (hours * 60 + minutes) * minute + seconds * 1_000;
};
const clockOf = (moment: number) => new Date(moment).toISOString().slice(11, 19);

const hourly = { kind: 'every', everyMs: 60 * minute } as const;
const nightly = { kind: 'cron', pattern: '0 3 * * *', timezone: 'UTC' } as const;
const eachMinute = { kind: 'cron', pattern: '* * * * *', timezone: 'UTC' } as const;

/** A word such as "03:00 start a", "03:10 ok", "03:10 fail 3". */
function beat(word: string): Ping {
  const [clock = '', kind = '', ...rest] = word.split(' ');
  const exitCode = rest.find((one) => /^\d+$/.test(one));
  const run = rest.find((one) => /^[a-z]$/.test(one)) ?? null;
  const kinds = { start: 'start', ok: 'success', fail: 'failure' } as const;
  if (kind !== 'start' && kind !== 'ok' && kind !== 'fail') throw new RangeError(word);
  return { at: at(clock), kind: kinds[kind], run, exitCode: exitCode === undefined ? null : Number(exitCode), log: [] };
}

const heardAll = (words: readonly string[], since = at('00:00')): HeartbeatState =>
  words.reduce((heard, word) => takeBeat(heard, beat(word)).heard, newlyHeard(since));

/** Every alarm until a moment, where nothing more is heard. */
function alarms(heard: HeartbeatState, expected: ReturnType<typeof createExpected>, hearsSince: number, until: number) {
  const found: string[] = [];
  let now = heard;
  for (let alarm = nextAlarm(now, expected, hearsSince); alarm !== null && alarm.at <= until;) {
    const code = alarm.outcome.status === 'up' ? 'up' : alarm.outcome.failure.code;
    found.push(`${clockOf(alarm.at)} ${code}`);
    now = alarm.heard;
    alarm = nextAlarm(now, expected, hearsSince);
  }
  return found;
}

interface Scenario {
  readonly name: string;
  readonly schedule: typeof hourly | typeof nightly | typeof eachMinute;
  readonly grace?: string;
  readonly max?: string;
  readonly words: readonly string[];
  readonly hearsSince?: string;
  readonly until: string;
  readonly alarms: readonly string[];
}

const scenarios: readonly Scenario[] = [
  {
    name: 'one that was never heard of is late an interval and its grace after it was first waited for',
    schedule: hourly,
    words: [],
    until: '02:00',
    alarms: ['01:10:00 late'],
  },
  {
    name: 'one that calls is late an interval and its grace after its last word',
    schedule: hourly,
    words: ['00:20 ok', '01:05 ok'],
    until: '02:30',
    alarms: ['02:15:00 late'],
  },
  {
    name: 'each further time that is missed is another round',
    schedule: hourly,
    words: ['00:00 ok'],
    until: '04:00',
    alarms: ['01:10:00 late', '02:10:00 late', '03:10:00 late'],
  },
  {
    name: 'one that has failed is late as any other',
    schedule: hourly,
    words: ['00:20 fail 2'],
    until: '02:00',
    alarms: ['01:30:00 late'],
  },
  {
    name: 'a start is a word: it is late an interval after it',
    schedule: hourly,
    words: ['00:00 ok', '01:00 start'],
    until: '02:30',
    alarms: ['02:10:00 unfinished'],
  },
  {
    name: 'a run that may take a time of its own is too long then, and not late before',
    schedule: hourly,
    max: '3h',
    words: ['01:00 start'],
    until: '05:30',
    alarms: ['04:00:00 unfinished', '05:00:00 unfinished'],
  },
  {
    name: 'a run that ended in time is not too long',
    schedule: hourly,
    max: '30m',
    words: ['01:00 start a', '01:29 ok a'],
    until: '02:38',
    alarms: [],
  },
  {
    name: 'a run that was killed is forgotten when a later one has ended',
    schedule: hourly,
    max: '90m',
    words: ['01:00 start a', '02:00 start b', '02:10 ok b'],
    until: '03:00',
    alarms: [],
  },
  {
    name: 'by cron it is late its grace after the time, not after an interval',
    schedule: nightly,
    words: ['00:30 ok'],
    until: '04:00',
    alarms: ['03:10:00 late'],
  },
  {
    name: 'by cron a run that begins a little early counts for the time that it is early for',
    schedule: nightly,
    words: ['02:59:40 start', '02:59:50 ok'],
    until: '23:59',
    alarms: [],
  },
  {
    name: 'by cron a run that goes on over the time says nothing of the next one',
    schedule: eachMinute,
    grace: '20s',
    words: ['01:00:00 start a', '01:00:50 ok a'],
    until: '01:01:30',
    alarms: ['01:01:20 late'],
  },
  {
    name: 'by cron every minute a word counts for one minute only',
    schedule: eachMinute,
    grace: '20s',
    words: ['01:00:02 ok'],
    until: '01:02:00',
    alarms: ['01:01:20 late'],
  },
  {
    name: 'nobody is late before a full grace from when we could hear',
    schedule: hourly,
    words: ['00:00 ok'],
    hearsSince: '05:00',
    until: '07:00',
    alarms: ['05:10:00 late', '06:10:00 late'],
  },
  {
    name: 'a run that ended while we were away may say so for a full grace',
    schedule: hourly,
    max: '1h',
    words: ['01:00 start'],
    hearsSince: '03:00',
    until: '03:30',
    alarms: ['03:10:00 unfinished'],
  },
];

test.each(scenarios)(
  '$name',
  ({ schedule, grace = '10m', max, words, hearsSince = '00:00', until, alarms: expected }) => {
    const graceMs = parseDuration(grace) ?? Number.NaN;
    const job = createExpected(schedule, {
      secretHash: null,
      graceMs,
      maxRuntimeMs: max === undefined ? null : parseDuration(max),
    });
    expect(alarms(heardAll(words), job, at(hearsSince), at(until))).toEqual(expected);
  },
);

test('a run that began and ended has a duration, and one that only ended has none', () => {
  const first = takeBeat(heardAll(['03:00 start a']), beat('03:12 ok a'));
  expect(first.outcome).toMatchObject({ status: 'up', seconds: 720 });
  expect(takeBeat(heardAll([]), beat('03:12 ok')).outcome).toMatchObject({ status: 'up', seconds: null });
});

test('a failing run is down with its exit code and its last line', () => {
  const words = { ...beat('03:12 fail 137 a'), log: ['copying', 'Killed'] };
  expect(takeBeat(heardAll(['03:00 start a']), words).outcome).toMatchObject({
    status: 'down',
    seconds: 720,
    failure: { source: 'target', code: 'exit', message: 'ended with exit code 137: Killed' },
    detail: { exit_code: 137, log: ['copying', 'Killed'] },
  });
});

test('the same call twice is one, and a start that comes after its end says nothing', () => {
  const heard = heardAll(['03:00 start a', '03:12 ok a']);
  expect(takeBeat(heard, beat('03:13 ok a'))).toEqual({ heard, outcome: null, isRepeat: true });
  expect(takeBeat(heardAll(['03:12 ok a']), beat('03:12 start a')).heard.open).toEqual([]);
});

test('what is kept of a job stays small, and no round has the name of another', () => {
  const word = fc.record({
    gap: fc.integer({ min: 0, max: 5_000 }),
    kind: fc.constantFrom('start', 'success', 'failure'),
    run: fc.option(fc.integer({ min: 0, max: 30 }).map(String)),
  });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (words) => {
      const rounds: number[] = [];
      let heard = newlyHeard(day);
      let now = day;
      for (const { gap, kind, run } of words) {
        now += gap;
        const taken = takeBeat(heard, { at: now, kind, run, exitCode: null, log: [] });
        heard = taken.heard;
        if (taken.outcome !== null) rounds.push(heard.last?.dueAt ?? 0);
      }
      expect(heard.open.length).toBeLessThanOrEqual(10);
      expect(heard.calls.length).toBeLessThanOrEqual(20);
      expect(new Set(rounds).size).toBe(rounds.length);
      expect(rounds.toSorted((one, other) => one - other)).toEqual(rounds);
    }),
  );
});
