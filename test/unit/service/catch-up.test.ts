import { expect, test } from 'vitest';
import { createCatchUp } from '#service/catch-up.ts';
import type { TargetRounds } from '#service/target-rounds.ts';
import { createUnjudgedReport, type UnjudgedPeriod } from '#service/unjudged.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

const second = 1_000;
const transport = { nodes: () => [] };

/** A target with rounds that each take so long to judge. */
function slow(clock: FakeClock, dues: readonly number[], takesMs: number) {
  const judged: number[] = [];
  const abandoned: number[] = [];
  const rounds = {
    name: 'shop',
    decided: 0,
    openUntil: () => dues,
    endLate(dueAt: number) {
      judged.push(dueAt);
      clock.hold(takesMs);
    },
    letGo: () => {},
    abandon: (until: number) => void abandoned.push(until),
  };
  return { rounds: rounds as unknown as TargetRounds, judged, abandoned };
}

test.each([
  { takesMs: 25 * second, judged: [1, 2, 3], isCut: true },
  { takesMs: 15 * second, judged: [1, 2, 3, 4], isCut: false },
])('live rounds wait for a minute at most: $takesMs ms for each late one', async ({ takesMs, judged: all, isCut }) => {
  const clock = new FakeClock();
  const absence = { lastRound: () => null, wasThere: true, isOver: () => true, connectedMs: () => Infinity };
  let isOver = false;
  const onOver = () => (isOver = true);
  const { log } = memoryLog();
  const catchUp = createCatchUp({ absence, clock, log, onOver, transport, onUnjudged: () => {} });
  const { rounds, judged, abandoned } = slow(clock, [1, 2, 3, 4], takesMs);
  expect(catchUp.holds(rounds)).toBe(true);
  catchUp.look(() => [rounds]);
  await clock.advance(0);
  expect(judged).toEqual(all);
  expect(abandoned).toHaveLength(isCut ? 1 : 0);
  expect([isOver, catchUp.holds(rounds)]).toEqual([true, false]);
});

test('what is not judged within the minute is reported', async () => {
  const clock = new FakeClock();
  const reports: UnjudgedPeriod[] = [];
  const onUnjudged = (unjudged: UnjudgedPeriod) => void reports.push(unjudged);
  const absence = { lastRound: () => null, wasThere: true, isOver: () => true, connectedMs: () => Infinity };
  const catchUp = createCatchUp({ absence, clock, log: memoryLog().log, onOver: () => {}, transport, onUnjudged });
  const dues = [1, 2, 3, 4, 5].map((minutes) => minutes * 60 * second);
  const { rounds, judged } = slow(clock, dues, 25 * second);
  catchUp.look(() => [rounds]);
  await clock.advance(0);
  expect(judged).toEqual(dues.slice(0, 3));
  catchUp.look(() => [rounds]);
  expect(reports).toEqual([{ from: 4 * 60 * second, until: 5 * 60 * second, targets: 1, dropped: [] }]);
});

test('nodes may go on with a target that another process assigned and of which it stored nothing', async () => {
  const clock = new FakeClock();
  const { log } = memoryLog();
  const optionsFor = { clock, log, onOver: () => {}, transport, onUnjudged: () => {} };
  const now = clock.now();
  const marks = { over: now, decided: now };
  const absence = { lastRound: () => null, wasThere: true, isOver: () => true, connectedMs: () => Infinity };
  const catchUp = createCatchUp({ ...optionsFor, absence });
  expect(catchUp.marksOf('shop')).toEqual({ ...marks, continuedUntil: now + 15 * second });
  catchUp.look(() => []);
  await clock.advance(0);
  expect(catchUp.marksOf('mail')).toEqual(marks);
  for (const none of [null, { ...absence, wasThere: false }])
    expect(createCatchUp({ ...optionsFor, absence: none }).marksOf('shop')).toEqual(marks);
});

test('nodes have forty seconds to send what they hold', async () => {
  const clock = new FakeClock();
  const absence = { lastRound: () => null, wasThere: true, isOver: () => false, connectedMs: () => Infinity };
  const { log } = memoryLog();
  const catchUp = createCatchUp({ absence, clock, log, onOver: () => {}, transport, onUnjudged: () => {} });
  const { rounds, judged, abandoned } = slow(clock, [1], 0);
  for (const { afterMs, count } of [
    { afterMs: 40 * second - 1, count: 0 },
    { afterMs: 1, count: 1 },
  ]) {
    await clock.advance(afterMs);
    catchUp.look(() => [rounds]);
    await clock.advance(0);
    expect([judged.length, abandoned.length]).toEqual([count, count]);
  }
});

test.each([
  { connection: 'that never comes', from: [], endsAfter: 40, isGivenUp: false },
  { connection: 'that comes after half a minute', from: [30], endsAfter: 70, isGivenUp: true },
  { connection: 'that comes and goes', from: [10, 30, 50, 70], endsAfter: 80, isGivenUp: false },
])('nodes have their time over a connection $connection', async ({ from, endsAfter, isGivenUp }) => {
  const clock = new FakeClock();
  const began = clock.elapsed();
  const seconds = () => (clock.elapsed() - began) / second;
  const connectedMs = () => {
    const last = from.findLast((at) => at <= seconds());
    return last === undefined ? 0 : (seconds() - last) * second + 1;
  };
  const absence = { lastRound: () => null, wasThere: true, isOver: () => false, connectedMs };
  const { log } = memoryLog();
  const catchUp = createCatchUp({ absence, clock, log, onOver: () => {}, transport, onUnjudged: () => {} });
  const { rounds, judged, abandoned } = slow(clock, [1], 0);
  while (judged.length === 0) {
    await clock.advance(second);
    catchUp.look(() => [rounds]);
    await clock.advance(0);
  }
  expect([seconds(), catchUp.holds(rounds), abandoned.length]).toEqual([endsAfter, false, isGivenUp ? 1 : 0]);
});

test.each([
  { spanMs: 60 * second - 1, isReported: false },
  { spanMs: 60 * second, isReported: true },
])('what cannot be judged is reported from a minute on: $spanMs ms', ({ spanMs, isReported }) => {
  const { log, lines } = memoryLog();
  const reports: UnjudgedPeriod[] = [];
  const onUnjudged = (unjudged: UnjudgedPeriod) => void reports.push(unjudged);
  const report = createUnjudgedReport({ clock: new FakeClock(), log, isComplete: () => true, transport, onUnjudged });
  report.open([{ name: 'shop', decided: 0 }], 10 * 60 * second);
  report.late({ target: 'shop', dueAt: second });
  report.late({ target: 'shop', dueAt: second + spanMs });
  report.look();
  expect(lines).toHaveLength(1);
  expect(reports).toEqual(isReported ? [{ from: second, until: second + spanMs, targets: 1, dropped: [] }] : []);
});

/** A catch-up at which nodes have sent everything, as far as is known, and a target with a round to judge. */
function complete() {
  const clock = new FakeClock();
  const { log } = memoryLog();
  const absence = { lastRound: () => null, wasThere: true, isOver: () => true, connectedMs: () => Infinity };
  const catchUp = createCatchUp({ absence, clock, log, onOver: () => {}, transport, onUnjudged: () => {} });
  const { rounds, judged } = slow(clock, [1], 0);
  const look = async (afterMs: number) => {
    await clock.advance(afterMs);
    catchUp.look(() => [rounds]);
    await clock.advance(0);
    return judged.length;
  };
  return { clock, catchUp, rounds, look };
}

test('what was sent may still be read: an absence is judged once nothing came for two seconds', async () => {
  const { clock, catchUp, rounds, look } = complete();
  catchUp.heard(rounds, clock.now() - second, false);
  expect(await look(2 * second - 1)).toBe(0);
  expect(await look(1)).toBe(1);
});

test('votes of live rounds do not delay it', async () => {
  const { clock, catchUp, rounds, look } = complete();
  catchUp.heard(rounds, clock.now() + 1, false);
  expect(await look(0)).toBe(1);
});

test('a target whose nodes can be heard again is judged after three seconds at the earliest', async () => {
  const { catchUp, rounds, look } = complete();
  expect(await look(0)).toBe(1);
  catchUp.begin('unreachable', [rounds]);
  expect(await look(3 * second - 1)).toBe(1);
  expect(await look(1)).toBe(2);
});
