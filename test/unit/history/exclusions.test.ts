import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Downtime } from '#history/downtime.ts';
import { createExclusions, type Exclusion, withExclusions } from '#history/exclusions.ts';
import { follow, type TargetStatus, timeIn, uptimeOf, type VerdictPeriod } from '#history/verdict-periods.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const minute = 60_000;

function periodsOf(rounds: readonly (readonly [at: number, status: TargetStatus])[]): VerdictPeriod[] {
  const periods: VerdictPeriod[] = [];
  for (const [at, status] of rounds) {
    const next = follow(periods.at(-1) ?? null, at * minute, { status, inMaintenance: false, holdsMs: 2 * minute });
    if (next === null) continue;
    if (next.from === periods.at(-1)?.from) periods.pop();
    periods.push(next);
  }
  return periods;
}

const span = (from: number, to: number) => ({ from: from * minute, to: to * minute });
const shop = periodsOf([[0, 'up'], [1, 'up'], [2, 'down'], [3, 'down'], [4, 'down'], [5, 'up'], [6, 'up']]); // prettier-ignore

test('excluded time counts for nothing, whatever was seen then and whether it was watched', () => {
  const time = (...excluded: { from: number; to: number }[]) =>
    timeIn(span(0, 10), withExclusions(shop, excluded), 10 * minute);
  expect(time()).toMatchObject({ up: 5 * minute, down: 3 * minute, excluded: 0, unwatched: 2 * minute });
  expect(time(span(3, 6))).toMatchObject({ up: 4 * minute, down: minute, excluded: 3 * minute, unwatched: 2 * minute });
  expect(uptimeOf(time(span(2, 5)))).toBe(1);
  expect(time(span(7, 9))).toMatchObject({ up: 4 * minute, down: 3 * minute, excluded: 2 * minute, unwatched: minute });
  expect(time(span(0, 10))).toMatchObject({ up: 0, down: 0, excluded: 10 * minute, unwatched: 0 });
});

test('exclusions that overlap or touch count once', () => {
  const excluded = [span(4, 6), span(2, 3), span(2.5, 4), span(3, 3.5)];
  expect(timeIn(span(0, 8), withExclusions(shop, excluded), 8 * minute)).toMatchObject({
    up: 4 * minute,
    down: 0,
    excluded: 4 * minute,
  });
});

test('a target that is still down goes on from the end of what is excluded', () => {
  const down = periodsOf([[0, 'up'], [1, 'down'], [2, 'down'], [3, 'down']]); // prettier-ignore
  const downtime = new Downtime();
  downtime.fill(withExclusions(down, [span(1, 3.5)]));
  expect(downtime.since(0, 4 * minute)).toBe(minute / 2);
  downtime.note(4 * minute, { status: 'down', inMaintenance: false, holdsMs: 2 * minute });
  downtime.note(5 * minute, { status: 'up', inMaintenance: false, holdsMs: 2 * minute });
  expect(downtime.since(0, 6 * minute)).toBe(1.5 * minute);
});

test('a target of which nothing was seen since then begins anew', () => {
  const downtime = new Downtime();
  downtime.fill(withExclusions(periodsOf([[0, 'down'], [1, 'down']]), [span(1, 8)])); // prettier-ignore
  downtime.note(9 * minute, { status: 'down', inMaintenance: false, holdsMs: 2 * minute });
  expect(downtime.since(0, 10 * minute)).toBe(2 * minute);
});

test('all time of a span is in its sum, and what is not excluded is as it was', () => {
  const status = fc.constantFrom<TargetStatus>('up', 'partial', 'down', 'unknown');
  const rounds = fc.array(fc.tuple(fc.nat(200), status), { maxLength: 60 });
  const spans = fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 1, max: 50 })), { maxLength: 5 });
  fc.assert(
    fc.property(rounds, spans, (some, others) => {
      const periods = periodsOf(some.toSorted(([a], [b]) => a - b));
      const excluded = others.map(([from, length]) => span(from, from + length));
      const cut = withExclusions(periods, excluded);
      const inMinute = (at: number, of: readonly VerdictPeriod[]) => timeIn(span(at, at + 1), of, 300 * minute);
      for (let at = 0; at < 250; at += 1) {
        const isExcluded = excluded.some(({ from, to }) => from <= at * minute && at * minute < to);
        const expected = isExcluded ? { ...inMinute(at, []), excluded: minute, unwatched: 0 } : inMinute(at, periods);
        expect(inMinute(at, cut)).toEqual(expected);
      }
    }),
    { numRuns: 40 },
  );
});

test('what is asked wrongly is refused with the way out', () => {
  const all: Exclusion[] = [];
  const changed: (string | null)[] = [];
  const exclusions = createExclusions({
    store: {
      exclusions: () => all,
      addExclusion: (one) => void all.push(one),
      removeExclusion: (one) => void all.splice(all.indexOf(one), 1),
    },
    targets: () => new Set(['shop', 'mail']),
    changed: (target) => void changed.push(target),
    clock: new FakeClock('2026-11-23T12:00:00Z'),
    random: seededRandom(1),
  });
  const at = (time: string) => Date.parse(`2026-11-23T${time}Z`);
  const asked = { target: 'shop', from: at('10:00'), to: at('11:00'), why: 'provider' };
  expect(() => exclusions.add({ ...asked, target: 'shp' })).toThrow('there is no target shp (did you mean "shop"?)');
  expect(() => exclusions.add({ ...asked, from: at('11:00') })).toThrow('ends before it begins');
  expect(() => exclusions.add({ ...asked, to: at('12:01') })).toThrow(
    'ends in the future, at 2026-11-23T12:01:00.000Z',
  );
  expect(() => exclusions.remove('x')).toThrow('there is no exclusion x');
  expect(all).toEqual([]);
  const added = exclusions.add({ ...asked, why: 'provider\n  again' });
  expect(added).toMatchObject({ target: 'shop', why: 'provider again', createdAt: at('12:00') });
  exclusions.add({ ...asked, target: null });
  expect(exclusions.remove(added.id)).toEqual(added);
  expect(exclusions.list().map(({ target }) => target)).toEqual([null]);
  expect(changed).toEqual(['shop', null, 'shop']);
});
