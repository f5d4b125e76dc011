import { parseArgs } from 'node:util';
import { dayMs } from '#kernel/units.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { start } from '../../support/store.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    targets: { type: 'string', default: '10' },
    nodes: { type: 'string', default: '2' },
    'every-seconds': { type: 'string', default: '30' },
    'hour-days': { type: 'string', default: '30' },
    'raw-days': { type: 'string', default: '2' },
    'live-days': { type: 'string', default: '0.25' },
    only: { type: 'string' },
  },
});

/** Days of sealed hours, of the newest of which the results are kept; then days, or a part of one, that go through the store result by result. */
export const size = {
  targets: Number(values.targets),
  nodes: Number(values.nodes),
  everyMs: Number(values['every-seconds']) * 1_000,
  hourDays: Number(values['hour-days']),
  rawDays: Number(values['raw-days']),
  liveDays: Number(values['live-days']),
};

/** `--only` with `hour`, `hours` or `years` leaves out the others. */
export const isWanted = (part: 'hour' | 'hours' | 'years') => values.only === undefined || values.only === part;

export const names = Array.from({ length: size.targets }, (_, index) => `target-${index}`);
export const nodes = Array.from({ length: size.nodes }, (_, index) => `de${index + 1}`);
export const liveFrom = start + size.hourDays * dayMs;
export const end = liveFrom + size.liveDays * dayMs;
export const rawFrom = liveFrom - size.rawDays * dayMs;
export const retention = {
  rawMs: size.rawDays * dayMs,
  // The first day is to be forgotten.
  hoursMs: (size.hourDays - 1) * dayMs,
  daysMs: null,
  verdictsMs: null,
  incidentsMs: null,
};

export const random = seededRandom(1);

/** How long a check takes, in microseconds: one in a hundred takes eight times as long. */
export const takes = () => Math.round(5_000 * 2 ** (random.next() * 2) * (random.next() < 0.01 ? 8 : 1));
