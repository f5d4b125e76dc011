import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckSpec, checkOf } from '#checks/index.ts';
import type { Ping } from '#monitor/heartbeats/hear.ts';
import { Rule, ruleFor } from '#monitor/judge/rule.ts';
import { startScenario, target } from '../../../support/scenario.ts';

// A job that starts, ends well, fails or is silent at any time, and a program that is restarted meanwhile, beside an account of what the
// documentation says: it is down from its first failure, or the first time that it is late, until a run ends well.

const minute = 60_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const [everyMs, graceMs] = [60 * minute, 10 * minute];
const lengthMs = 24 * 60 * minute;

interface Happening {
  readonly at: number;
  readonly kind: 'start' | 'success' | 'failure' | 'restart';
}

const happenings = fc
  .uniqueArray(
    fc.record({
      seconds: fc.integer({ min: 60, max: 82_800 }),
      kind: fc.constantFrom('start', 'start', 'success', 'success', 'success', 'failure', 'restart'),
    }),
    { selector: ({ seconds }) => seconds, minLength: 3, maxLength: 40 },
  )
  .map((all) =>
    all.map(({ seconds, kind }): Happening => ({ at: start + seconds * 1_000, kind })).toSorted((a, b) => a.at - b.at),
  );

interface DownPeriod {
  readonly from: number;
  to: number | null;
}

/** When the job is down by the documentation. */
function account(all: readonly Happening[]): readonly DownPeriod[] {
  const periods: DownPeriod[] = [];
  const isDown = () => periods.at(-1)?.to === null;
  let [hearsSince, calledAt] = [start, start];
  let running: number | null = null;
  const goDown = (from: number) => {
    if (!isDown()) periods.push({ from, to: null });
  };
  // The first run since the last end may take until the next one is late; and after a start of the program there is a whole grace.
  const lateAt = () => Math.max((running ?? calledAt) + everyMs, hearsSince) + graceMs;
  for (const { at, kind } of all) {
    if (lateAt() < at) goDown(lateAt());
    if (kind === 'restart') hearsSince = at;
    else calledAt = at;
    if (kind === 'start') running ??= at;
    if (kind === 'failure') goDown(at);
    if (kind === 'failure' || kind === 'success') running = null;
    const open = periods.at(-1);
    if (kind === 'success' && open?.to === null) open.to = at;
  }
  if (lateAt() < start + lengthMs) goDown(lateAt());
  return periods;
}

async function observe(all: readonly Happening[]): Promise<readonly DownPeriod[]> {
  const spec = CheckSpec.parse({ type: 'heartbeat', secret_hash: 'a'.repeat(64), grace: '10m' });
  const job = target('backup', {
    spec,
    schedule: { kind: 'every', everyMs },
    rules: [{ name: 'down', rule: ruleFor(Rule.parse({}), checkOf('heartbeat')) }],
  });
  await using scenario = await startScenario({ targets: [job], start: new Date(start).toISOString() });
  const { clock, store } = scenario;
  for (const { at, kind } of all) {
    await clock.advance(at - clock.now());
    if (kind === 'restart') await scenario.restart();
    else {
      const beat: Ping = { at: clock.now(), kind, run: null, exitCode: null, log: [] };
      expect(await scenario.monitor.hear('backup', beat)).toBe(true);
    }
    await clock.advance(0);
  }
  await clock.advance(start + lengthMs - clock.now());
  return [...store.incidents.values()]
    .map(({ startedAt, endedAt }) => ({ from: startedAt, to: endedAt }))
    .toSorted((a, b) => a.from - b.from);
}

const wanted = process.env['DAYS'];
const runs = wanted === undefined ? { numRuns: 40, seed: 1 } : { numRuns: Number(wanted) };

test('a job is down whenever the documentation says so', async () => {
  const rounded = (periods: readonly DownPeriod[]) =>
    periods.map(({ from, to }) => [from, to].map((at) => (at === null ? null : Math.round((at - start) / minute))));
  await fc.assert(
    fc.asyncProperty(happenings, async (all) => {
      expect(rounded(await observe(all))).toEqual(rounded(account(all)));
    }),
    { ...runs, interruptAfterTimeLimit: 100_000 },
  );
}, 200_000);
