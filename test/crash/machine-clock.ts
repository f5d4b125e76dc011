import { setTimeout as sleep } from 'node:timers/promises';
import type { MachineClock } from '../support/machine-clock.ts';
import { eventually } from '../support/program.ts';
import type { seededRandom } from '../support/seeded-random.ts';
import type { Played } from './play.ts';
import type { Switched } from './switched.ts';

const hour = 3_600_000;
const leads = [5 * hour, 100 * 24 * hour];
const goOnMs = 60_000;

/** Sets the clock ahead now and then, before a start or while the program runs, and right again. Returns how often it did. */
export function setAhead(clock: MachineClock, random: ReturnType<typeof seededRandom>, when: 'start' | 'run'): number {
  const before = clock.aheadMs;
  const lead = leads[Math.floor(random.next() * leads.length)] ?? 0;
  const fate = random.next();
  if (when === 'start') clock.set(fate < 0.4 ? lead : 0);
  else if (fate < 0.4) clock.set(before === 0 ? lead : 0);
  return clock.aheadMs === before ? 0 : 1;
}

interface LastJump extends Pick<Played, 'query'> {
  readonly clock: MachineClock;
  readonly targets: readonly Switched[];
}

/**
 * Sets the clock of the running program ahead for some seconds, with an outage that begins meanwhile, and then gives what does not go
 * on at once: results, verdict periods, incidents.
 */
export async function findStandstill({ clock, targets, query }: LastJump): Promise<readonly string[]> {
  const [first] = targets;
  clock.set(Math.max(...leads));
  await first?.turn(false);
  await sleep(4_000);
  clock.set(0);
  const from = Date.now();
  for (const target of targets) await target.turn(true);
  await sleep(3_000);
  const fromOutage = Date.now();
  for (const target of targets) await target.turn(false);
  // A minute later at most; what was stored of the old future lies hours ahead.
  const between = (column: string, at: number) => `${column} BETWEEN ${at} AND ${from + 2 * goOnMs}`;
  const signs = [
    ['new results', `results WHERE ${between('due_at', from)}`],
    ['verdict periods of the new outage', `verdict_periods WHERE status = 1 AND ${between('from_at', fromOutage)}`],
    ['incidents of the new outage', `incidents WHERE ${between('started_at', fromOutage)}`],
  ] as const;
  const faults = () => [
    ...signs.flatMap(([what, where]) => {
      const [row] = query(`SELECT count(DISTINCT target_id) AS n FROM ${where}`);
      return row?.['n'] === targets.length ? [] : [`clock right again: ${what} of ${String(row?.['n'])} targets only`];
    }),
    ...query(`SELECT name FROM marks WHERE name LIKE '%_until' AND value > ${Date.now()}`).map(
      ({ name }) => `clock right again: the mark ${String(name)} is in the future`,
    ),
  ];
  await eventually(goOnMs, () => {
    if (faults().length > 0) throw new Error('it stands still');
  }).catch(() => {});
  const found = faults();
  for (const target of targets) await target.turn(true);
  return found;
}
