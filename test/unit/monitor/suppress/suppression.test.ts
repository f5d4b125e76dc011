import { Cron } from 'croner';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { closureOf, reversed } from '#monitor/suppress/dependencies.ts';
import {
  createMaintenanceAt,
  createWindow,
  type MaintenanceTime,
  windowsAhead,
} from '#monitor/suppress/maintenance.ts';
import { createSilences, silenceAt } from '#monitor/suppress/silence.ts';
import { carryOver } from '#monitor/judge/carry-over.ts';
import { decide, nothingRemembered } from '#monitor/judge/decide.ts';
import type { Suppression } from '#monitor/judge/incident.ts';
import { createRecentTimes, mostRecentTimes } from '#monitor/judge/recent-times.ts';
import { newRuleState } from '#monitor/judge/rule-state.ts';
import { ordinary } from '../../../support/circumstances.ts';
import { rule, target } from '../../../support/scenario.ts';
import { votesOf } from '../../../support/votes.ts';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'];
const patterns = ['0 3 * * *', '30 2 * * *', '*/20 * * * *', '0 0 1 * *', '15 1 * * SUN'];
const Time = fc
  .tuple(fc.constantFrom(...patterns), fc.constantFrom(...zones), fc.integer({ min: 60_000, max: 5_400_000 }))
  .map(([pattern, timezone, durationMs]): MaintenanceTime => ({ kind: 'cron', pattern, timezone, durationMs }));
const year = { from: Date.parse('2026-01-01T00:00:00Z'), to: Date.parse('2027-01-01T00:00:00Z') };
const Moment = fc.integer({ min: year.from, max: year.to });

test('a window is open from each tick for its duration, and at no other time', () => {
  fc.assert(
    fc.property(Time, Moment, (time, at) => {
      if (time.kind !== 'cron') throw new Error('unreachable');
      const cron = new Cron(time.pattern, { timezone: time.timezone, paused: true });
      const ticks: number[] = [];
      for (
        let tick = cron.nextRun(new Date(at - 6_000_000));
        tick !== null && tick.getTime() <= at;
        tick = cron.nextRun(tick)
      ) {
        ticks.push(tick.getTime());
      }
      const open = ticks
        .filter((tick) => tick <= at && at < tick + time.durationMs)
        .map((tick) => tick + time.durationMs);
      expect(createWindow(time)(at)).toBe(open.length === 0 ? null : Math.max(...open));
    }),
    { numRuns: 150 },
  );
});

test('asked again and again, in any order, a window answers as one that was never asked', () => {
  fc.assert(
    fc.property(
      Time,
      Moment,
      fc.array(fc.integer({ min: -7_200_000, max: 7_200_000 }), { maxLength: 20 }),
      (time, from, steps) => {
        const windowAt = createWindow(time);
        let at = from;
        for (const step of steps) {
          at += step;
          expect(windowAt(at)).toBe(createWindow(time)(at));
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('a window that comes once holds from its first to before its last moment', () => {
  const windowAt = createWindow({ kind: 'once', from: 10, to: 20 });
  expect([9, 10, 19, 20].map(windowAt)).toEqual([null, 20, 20, null]);
});

test('of several windows the one that ends last counts, for those whom it concerns', () => {
  const endOf = createMaintenanceAt([
    { targets: 'all', time: { kind: 'once', from: 0, to: 10 } },
    { targets: ['shop'], time: { kind: 'once', from: 5, to: 20 } },
  ]);
  expect([endOf('shop', 4), endOf('shop', 6), endOf('blog', 6), endOf('shop', 15), endOf('blog', 15)]).toEqual([
    10,
    20,
    10,
    20,
    null,
  ]);
});

test('silences that ended a month ago are forgotten', () => {
  const day = 86_400_000;
  const silences = createSilences();
  for (let now = 0; now < 365 * day; now += day)
    silences.put({ id: String(now), targets: 'all', why: 'a deploy', from: now, until: now + 60_000 }, now);
  expect(silences.after(0)).toHaveLength(31);
  expect(silences.at('shop', 350 * day)).toMatchObject({ why: 'a deploy' });
});

test('of several silences the one that ends last counts', () => {
  const silence = (id: string, targets: 'all' | string[], from: number, until: number) => ({
    id,
    targets,
    why: '',
    from,
    until,
  });
  const all = [silence('a', 'all', 0, 10), silence('b', ['shop'], 5, 20), silence('c', ['blog'], 0, 99)];
  expect(
    [silenceAt(all, 'shop', 4), silenceAt(all, 'shop', 6), silenceAt(all, 'shop', 20)].map((one) => one?.id),
  ).toEqual(['a', 'b', undefined]);
});

const Edges = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 7 })), { maxLength: 20 })
  .map((pairs) => {
    const edges = new Map<string, string[]>(Array.from({ length: 8 }, (_, index) => [`${index}`, []]));
    for (const [from, to] of pairs) edges.get(`${from}`)?.push(`${to}`);
    return edges;
  });

test('what is depended on is transitive, never oneself, and ends in circles too', () => {
  fc.assert(
    fc.property(Edges, (edges) => {
      const closure = closureOf(edges);
      for (const [name, found] of closure) {
        expect(found).not.toContain(name);
        expect(new Set(found).size).toBe(found.length);
        for (const next of edges.get(name) ?? []) if (next !== name) expect(found).toContain(next);
        for (const one of found)
          for (const far of closure.get(one) ?? []) if (far !== name) expect(found).toContain(far);
      }
    }),
  );
});

test('who depends on me are those that I am depended on by', () => {
  fc.assert(
    fc.property(Edges, (edges) => {
      const [up, down] = [closureOf(edges), closureOf(reversed(edges))];
      for (const [name, found] of up) for (const one of found) expect(down.get(one)).toContain(name);
      for (const [name, found] of down) for (const one of found) expect(up.get(one)).toContain(name);
    }),
  );
});

const maintenance: Suppression = { by: 'maintenance', why: 'maintenance' };
const Step = fc.record({ sign: fc.constantFrom('up', 'down', 'down', 'unknown'), isHeld: fc.boolean() });

test('whatever holds back, an incident is told of its beginning at most once, and of its end exactly where that was told', () => {
  fc.assert(
    fc.property(fc.array(Step, { maxLength: 60 }), (steps) => {
      const shop = target('shop');
      let memory = nothingRemembered;
      const told = new Map<string, string[]>();
      for (const [index, { sign, isHeld }] of steps.entries()) {
        const dueAt = index * 60_000;
        const round = { dueAt, votes: votesOf(`de1:${sign}`), now: dueAt };
        const decision = decide(shop, memory, round, { ...ordinary, heldBy: () => (isHeld ? maintenance : null) });
        for (const { kind, incidentId } of decision.record.deliveries) {
          if (kind === 'opened') expect([sign, isHeld]).toEqual(['down', false]);
          told.set(incidentId, [...(told.get(incidentId) ?? []), kind]);
        }
        for (const incident of decision.record.incidents) {
          const kinds = told.get(incident.id) ?? [];
          const expected = incident.held !== null ? [] : ['opened', ...(incident.endedAt === null ? [] : ['resolved'])];
          // One that ended while it was held back was never told of.
          expect(kinds).toEqual(incident.endedAt !== null && incident.notified?.length === 0 ? [] : expected);
        }
        memory = decision.memory;
      }
    }),
  );
});

test('without anything that holds back, what is decided is what was decided before there was such a thing', () => {
  const decision = decide(
    target('shop'),
    nothingRemembered,
    { dueAt: 0, votes: votesOf('de1:down'), now: 0 },
    ordinary,
  );
  expect(decision).toMatchObject({ wantsConfirmation: true, record: { incidents: [], deliveries: [] } });
});

test('a steady state, good or failing or held back, leaves nothing to write but the votes', () => {
  const shop = target('shop', { rules: [rule('down'), rule('slow', { latency: { above: '1s' } })] });
  for (const sign of ['up', 'down']) {
    let memory = nothingRemembered;
    for (let index = 0; index < 6; index += 1) {
      const round = { dueAt: index * 60_000, votes: votesOf(`de1:${sign}`), now: index };
      const decision = decide(shop, memory, round, { ...ordinary, heldBy: () => maintenance });
      if (index > 3) expect(decision.record).toMatchObject({ states: [], incidents: [], deliveries: [] });
      if (index > 3) expect(decision.memory.states.get('down')).toBe(memory.states.get('down'));
      memory = decision.memory;
    }
  }
});

test('an open incident that no state knows of is adopted by its rule at the start; without a rule of its kind it is closed', () => {
  const shop = target('shop');
  let memory = nothingRemembered;
  for (let index = 0; index < 3; index += 1) {
    const round = { dueAt: index * 60_000, votes: votesOf('de1:down'), now: index * 60_000 };
    ({ memory } = decide(shop, memory, round, ordinary));
  }
  const [id] = memory.openIncidents.keys();
  const lost = { states: new Map(), openIncidents: memory.openIncidents };
  const adopted = carryOver('shop', lost, { last: null, next: shop, isAnother: false }, 9);
  expect(adopted.memory.states.get('down')).toMatchObject({ incidentId: id, window: [] });
  expect([...adopted.memory.openIncidents.keys()]).toEqual([id]);
  expect(adopted.record).toMatchObject({ states: [{ incidentId: id }], incidents: [] });
  const slow = target('shop', { rules: [rule('slow', { latency: { above: '1s' } })] });
  expect(carryOver('shop', lost, { last: null, next: slow, isAnother: false }, 9).record?.incidents).toMatchObject([
    { id, closing: 'rule_removed' },
  ]);
});

test('of two open incidents of one rule the one that the state knows stays, and whoever was told of the other hears its end', () => {
  const shop = target('shop');
  let memory = nothingRemembered;
  for (let index = 0; index < 3; index += 1) {
    const round = { dueAt: index * 60_000, votes: votesOf('de1:down'), now: index * 60_000 };
    ({ memory } = decide(shop, memory, round, ordinary));
  }
  const [known] = memory.openIncidents.values();
  if (known === undefined) throw new Error('no incident is open');
  const twin = { ...known, id: 'shop/down/twin', openedAt: known.openedAt + 1 };
  const both = { ...memory, openIncidents: new Map([...memory.openIncidents, [twin.id, twin]]) };
  const { memory: left, record } = carryOver('shop', both, { last: null, next: shop, isAnother: false }, 9);
  expect([...left.openIncidents.keys()]).toEqual([known.id]);
  expect(left.states.get('down')?.incidentId).toBe(known.id);
  expect(record?.incidents).toMatchObject([{ id: twin.id, endedAt: 9 }]);
  expect(record?.deliveries).toMatchObject([{ kind: 'closed', incidentId: twin.id }]);
});

test('a target that stays as it is keeps its memory as it is', () => {
  const shop = target('shop');
  let memory = nothingRemembered;
  for (let index = 0; index < 3; index += 1) {
    ({ memory } = decide(shop, memory, { dueAt: index * 60_000, votes: votesOf('de1:down'), now: index }, ordinary));
  }
  expect(carryOver('shop', memory, { last: shop, next: target('shop'), isAnother: false }, 9)).toEqual({
    memory,
    record: null,
  });
  expect(carryOver('shop', memory, { last: null, next: shop, isAnother: false }, 9)).toEqual({ memory, record: null });
  const { memory: left, record } = carryOver('shop', memory, { last: shop, next: null, isAnother: false }, 9);
  expect(left.openIncidents.size).toBe(0);
  expect(record?.incidents).toMatchObject([{ endedAt: 9, closing: 'unwatched' }]);
  expect(record?.deliveries).toMatchObject([{ kind: 'closed', recipient: 'ops@example.com' }]);
  expect(carryOver('shop', left, { last: null, next: null, isAnother: false }, 10).record).toBeNull();
});

test('a target that is another one now forgets what its rules noted of the old one', () => {
  const zone = target('zone', { rules: [rule('moved', { answers: 'changed' })] });
  const noted = { ...newRuleState('zone', 'moved'), noted: { de1: 'A 192.0.2.1' } };
  const memory = { states: new Map([['moved', noted]]), openIncidents: new Map() };
  const moved = { ...zone, spec: CheckSpec.parse({ type: 'dns', host: 'example.net' }) };
  expect(carryOver('zone', memory, { last: zone, next: moved, isAnother: true }, 9).record?.states).toEqual([
    newRuleState('zone', 'moved'),
  ]);
  expect(carryOver('zone', memory, { last: zone, next: zone, isAnother: false }, 9).record).toBeNull();
  expect(carryOver('zone', memory, { last: null, next: moved, isAnother: false }, 9).record).toBeNull();
});

test('recentTimes of a target are kept for its window, a thousand at most, and of no other target', () => {
  const recentTimes = createRecentTimes();
  recentTimes.keep('shop', 10_000);
  recentTimes.add('blog', 'de1', { at: 0, seconds: 1 });
  for (let at = 0; at <= 20_000; at += 1_000) recentTimes.add('shop', 'de1', { at, seconds: at });
  expect(recentTimes.of('blog', 'de1', -1)).toEqual([]);
  expect(recentTimes.of('shop', 'us1', -1)).toEqual([]);
  expect(recentTimes.of('shop', 'de1', -1).map(({ at }) => at / 1_000)).toEqual([
    11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
  ]);
  expect(recentTimes.of('shop', 'de1', 18_000).map(({ at }) => at)).toEqual([19_000, 20_000]);
  recentTimes.keep('shop', 86_400_000);
  for (let at = 20_001; at < 22_000; at += 1) recentTimes.add('shop', 'de1', { at, seconds: at });
  expect(recentTimes.of('shop', 'de1', -1)).toHaveLength(mostRecentTimes);
  recentTimes.forget('shop');
  expect(recentTimes.of('shop', 'de1', -1)).toEqual([]);
});

test('windows ahead are those that are open or begin soon, of one that recurs the next few, the first at the beginning', () => {
  const at = Date.parse('2026-01-05T03:30:00Z');
  const hour = 3_600_000;
  const cron = { kind: 'cron', pattern: '0 3 * * *', timezone: 'UTC', durationMs: hour } as const;
  const once = { kind: 'once', from: at + hour, to: at + 2 * hour } as const;
  const over = { kind: 'once', from: at - 2 * hour, to: at } as const;
  const found = windowsAhead(
    [
      { targets: ['a'], time: cron },
      { targets: 'all', time: once },
      { targets: 'all', time: over },
    ],
    at,
    at + 48 * hour,
  );
  expect(found.map(({ targets, from, to }) => [targets, new Date(from).toISOString(), (to - from) / hour])).toEqual([
    [['a'], '2026-01-05T03:00:00.000Z', 1],
    ['all', '2026-01-05T04:30:00.000Z', 1],
    [['a'], '2026-01-06T03:00:00.000Z', 1],
    [['a'], '2026-01-07T03:00:00.000Z', 1],
  ]);
  expect(windowsAhead([{ targets: 'all', time: cron }], at, at + 365 * 24 * hour)).toHaveLength(5);
});
