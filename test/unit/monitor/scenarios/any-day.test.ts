import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Maintenance } from '#monitor/suppress/maintenance.ts';
import { isAboutUs } from '#monitor/judge/incident.ts';
import type { Target } from '#monitor/judge/target.ts';
import { type Scenario, startScenario, target } from '../../../support/scenario.ts';

// Silences, maintenance, acknowledgements, dependencies, restarts, reloads and a mail server that is away, in any mix and order: what fails
// for long and is not suppressed is told, what is suppressed is not, and what was told to begin is told to end.

const minute = 60_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const lengthMinutes = 360;
// Two rounds; a doubt that no round clears takes five minutes.
const toldWithinMs = 6 * minute;
// Targets behind one that is up again have a grace period.
const graceMs = 5 * minute;
const names = ['router', 'shop', 'blog', 'cafe'] as const;
type Name = (typeof names)[number];
const witnesses = [target('mail'), target('wiki')];

const recipient = (name: string) => ({
  notify: name,
  channel: 'email',
  recipient: `${name}@example.com`,
  severities: ['critical', 'warning', 'info'] as const,
});
const targetOf = (name: Name, changes: Partial<Target> = {}) =>
  target(name, { recipients: [recipient('ops')], dependsOn: name === 'shop' ? ['router'] : [], ...changes });

interface Period {
  readonly from: number;
  readonly until: number;
}

const periodOf = (longest: number) =>
  fc
    .record({ at: fc.integer({ min: 3, max: 280 }), forMinutes: fc.integer({ min: 1, max: longest }) })
    .map(({ at, forMinutes }) => ({ from: start + at * minute, until: start + (at + forMinutes) * minute }));
const anyName = fc.constantFrom(...names);
const someTargets = fc.oneof(
  fc.constant('all' as const),
  anyName.map((name) => [name]),
);
const moment = fc.integer({ min: 3, max: 330 }).map((at) => start + at * minute + 10_000);

const days = fc.record({
  outages: fc.array(fc.record({ name: anyName, sign: fc.constantFrom('d', 'ddu', 'dxd'), period: periodOf(60) }), {
    minLength: 1,
    maxLength: 6,
  }),
  silences: fc.array(
    fc.record({ targets: someTargets, period: periodOf(60), endedAfter: fc.option(fc.integer({ min: 1, max: 30 })) }),
    { maxLength: 3 },
  ),
  maintenance: fc.array(fc.record({ targets: someTargets, period: periodOf(60) }), { maxLength: 2 }),
  acknowledged: fc.array(moment, { maxLength: 2 }),
  restarts: fc.array(moment, { maxLength: 3 }),
  cuts: fc.array(periodOf(20), { maxLength: 1 }),
  reloads: fc.array(
    fc.record({
      at: moment,
      kind: fc.constantFrom(
        'second recipient',
        'first recipient',
        'severity',
        'without cafe',
        'with cafe',
        'independent',
        'dependent',
      ),
    }),
    { maxLength: 5 },
  ),
});
type Day = typeof days extends fc.Arbitrary<infer One> ? One : never;

interface Step {
  readonly at: number;
  readonly act: (scenario: Scenario) => void | Promise<void>;
}

interface Settings {
  readonly isWatched: boolean;
  readonly isCritical: boolean;
  readonly isDependent: boolean;
  readonly recipients: Target['recipients'];
}

function targetsOf({ isWatched, isCritical, isDependent, recipients }: Settings): readonly Target[] {
  const rules = target('shop').rules.map((one) => ({
    ...one,
    rule: isCritical ? { ...one.rule, severity: 'critical' as const } : one.rule,
  }));
  const own = names
    .filter((name) => name !== 'cafe' || isWatched)
    .map((name) => targetOf(name, { recipients, rules, dependsOn: name === 'shop' && isDependent ? ['router'] : [] }));
  return [...own, ...witnesses];
}

function after(settings: Settings, kind: Day['reloads'][number]['kind']): Settings {
  switch (kind) {
    case 'second recipient':
      return { ...settings, recipients: [recipient('ops'), recipient('dev')] };
    case 'first recipient':
      return { ...settings, recipients: [recipient('ops')] };
    case 'severity':
      return { ...settings, isCritical: !settings.isCritical };
    case 'without cafe':
      return { ...settings, isWatched: false };
    case 'with cafe':
      return { ...settings, isWatched: true };
    case 'independent':
      return { ...settings, isDependent: false };
    case 'dependent':
      return { ...settings, isDependent: true };
  }
}

const first: Settings = { isWatched: true, isCritical: false, isDependent: true, recipients: [recipient('ops')] };

/** Overlapping outages of a target are one. */
function downOf(day: Day, name: Name): readonly Period[] {
  const own = day.outages
    .filter((one) => one.name === name)
    .map(({ period }) => period)
    .toSorted((a, b) => a.from - b.from);
  const joined: { from: number; until: number }[] = [];
  for (const { from, until } of own) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else joined.push({ from, until });
  }
  return joined;
}

function suppressionsOf(day: Day, name: Name): readonly Period[] {
  const holds = (targets: 'all' | readonly string[]) => targets === 'all' || targets.includes(name);
  const silenced = day.silences
    .filter(({ targets }) => holds(targets))
    .map(({ period, endedAfter }) => ({
      from: period.from,
      until: endedAfter === null ? period.until : Math.min(period.until, period.from + endedAfter * minute),
    }));
  const maintained = day.maintenance.filter(({ targets }) => holds(targets)).map(({ period }) => period);
  return [...silenced, ...maintained];
}

/** Times at which nobody can say when the target is told. */
function unsureOf(day: Day, name: Name): readonly Period[] {
  const parents =
    name === 'shop' ? downOf(day, 'router').map(({ from, until }) => ({ from, until: until + graceMs })) : [];
  const gone =
    name === 'cafe'
      ? day.reloads.filter(({ kind }) => kind.endsWith('cafe')).map(({ at }) => ({ from: at, until: at + 1 }))
      : [];
  const isAway = name === 'cafe' ? awayOf(day) : [];
  return [...parents, ...gone, ...isAway, ...day.cuts.map(({ from, until }) => ({ from, until: until + graceMs }))];
}

function awayOf(day: Day): readonly Period[] {
  const periods: Period[] = [];
  let since: number | null = null;
  for (const { at, kind } of day.reloads.toSorted((a, b) => a.at - b.at)) {
    if (kind === 'without cafe') since ??= at;
    if (kind === 'with cafe' && since !== null) {
      periods.push({ from: since, until: at });
      since = null;
    }
  }
  return since === null ? periods : [...periods, { from: since, until: Number.POSITIVE_INFINITY }];
}

/** What is left of a period without others. */
function without({ from, until }: Period, others: readonly Period[]): readonly Period[] {
  let left: Period[] = [{ from, until }];
  for (const other of others)
    left = left.flatMap((one) =>
      [
        { from: one.from, until: Math.min(one.until, other.from) },
        { from: Math.max(one.from, other.until), until: one.until },
      ].filter((part) => part.until > part.from),
    );
  return left;
}

function stepsOf(day: Day): readonly Step[] {
  let settings = first;
  const signOf = (name: Name, at: number) =>
    day.outages.find((one) => one.name === name && one.period.from === at)?.sign ?? 'd';
  const downs = names.flatMap((name) =>
    downOf(day, name).flatMap(({ from, until }): readonly Step[] => [
      { at: from, act: (one) => one.see(name, signOf(name, from)) },
      { at: until, act: (one) => one.see(name, 'u') },
    ]),
  );
  const silences = day.silences.flatMap(({ targets, period, endedAfter }, index): readonly Step[] => {
    const silence = { id: `s${index}`, targets, why: 'we know', ...period };
    const put: Step = { at: period.from, act: (one) => one.monitor.silence(silence) };
    if (endedAfter === null || period.from + endedAfter * minute >= period.until) return [put];
    const at = period.from + endedAfter * minute;
    return [put, { at, act: (one) => one.monitor.silence({ ...silence, until: at }) }];
  });
  return [
    ...downs,
    ...silences,
    ...day.acknowledged.map((at): Step => ({
      at,
      async act(one) {
        for (const { id, target: of } of one.monitor.openIncidents())
          if (!isAboutUs(of)) await one.monitor.acknowledge(id, 'on it');
      },
    })),
    ...day.restarts.map((at): Step => ({ at: at + 1_000, act: async (one) => one.restart() })),
    ...day.cuts.flatMap(({ from, until }): readonly Step[] => [
      { at: from, act: (one) => one.cutOff(true) },
      { at: until, act: (one) => one.cutOff(false) },
    ]),
    ...day.reloads.map(({ at, kind }): Step => ({
      at,
      async act(one) {
        settings = after(settings, kind);
        await one.apply({ targets: targetsOf(settings) });
      },
    })),
  ].toSorted((a, b) => a.at - b.at);
}

async function live(day: Day) {
  const maintenance = day.maintenance.map(({ targets, period: { from, until } }): Maintenance => ({
    targets,
    time: { kind: 'once', from, to: until },
  }));
  const faults: string[] = [];
  const scenario = await startScenario({
    targets: targetsOf(first),
    maintenance,
    start: new Date(start).toISOString(),
  });
  const { clock, store } = scenario;
  for (const { at, act } of stepsOf(day)) {
    await clock.advance(Math.max(0, at - clock.now()));
    await act(scenario);
  }
  await clock.advance(start + (lengthMinutes + 60) * minute - clock.now());
  const incidents = [...store.incidents.values()].filter(({ target: of }) => !isAboutUs(of));
  const clockOf = (at: number) => new Date(at).toISOString().slice(11, 19);
  for (const incident of incidents) {
    const { id, target: of, endedAt } = incident;
    if (endedAt === null) faults.push(`${id} is still open`);
    const own = store.deliveries.filter(({ incidentId }) => incidentId === id);
    for (const [who, rows] of Map.groupBy(own, (row) => row.recipient)) {
      const [begins, ends] = [['opened'], ['resolved', 'closed']].map((kinds) =>
        rows.filter(({ kind }) => kinds.includes(kind)),
      );
      if (begins?.length !== 1) faults.push(`${id} to ${who}: ${begins?.length} beginnings`);
      if (endedAt !== null && ends?.length !== 1) faults.push(`${id} to ${who}: ${ends?.length} ends`);
    }
    const name = names.find((one) => one === of);
    for (const { kind, createdAt } of own) {
      // A new recipient hears at once what is open.
      const isReloaded = day.reloads.some(({ at }) => at === createdAt);
      if (kind !== 'opened' || name === undefined || isReloaded) continue;
      if (suppressionsOf(day, name).some(({ from, until }) => from + 1_000 < createdAt && createdAt < until - 1_000))
        faults.push(`${id} was told at ${clockOf(createdAt)}, while it was suppressed`);
    }
  }
  for (const name of names)
    for (const down of downOf(day, name))
      for (const { from, until } of without(down, [...suppressionsOf(day, name), ...unsureOf(day, name)])) {
        if (until - from < toldWithinMs) continue;
        const own = incidents.filter(
          ({ target: of, startedAt, endedAt }) =>
            of === name && startedAt < until && (endedAt === null || endedAt > from),
        );
        const isTold = own.some(
          ({ id, acknowledged }) =>
            (acknowledged !== null && acknowledged.at <= from + toldWithinMs) ||
            store.deliveries.some(
              ({ incidentId, kind, createdAt }) =>
                incidentId === id && kind === 'opened' && createdAt <= from + toldWithinMs,
            ),
        );
        if (!isTold) faults.push(`${name} was down from ${clockOf(from)} to ${clockOf(until)}, and nobody was told`);
      }
  await scenario[Symbol.asyncDispose]();
  return faults;
}

const wanted = process.env['DAYS'];
const runs = wanted === undefined ? { numRuns: 20, seed: 1 } : { numRuns: Number(wanted) };

test('on any day what fails for long is told, once, and so is its end', async () => {
  await fc.assert(
    fc.asyncProperty(days, async (day) => {
      expect(await live(day)).toEqual([]);
    }),
    { ...runs, interruptAfterTimeLimit: 200_000 },
  );
}, 300_000);
