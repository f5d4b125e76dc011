import { defineCheck } from '../check.ts';
import { pathAnswers } from '../path/addresses.ts';
import { outcomeOfPath } from '../path/conclusion.ts';
import { startPath } from '../path/prober.ts';
import { Detail, forStrangers } from './detail.ts';
import { figuresOf } from './figures.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { deadlineMs, Spec } from './spec.ts';
import { table } from './table.ts';

/** Loss and times of each router on the path to a host. `seconds` is the mean round trip to the host itself. */
export const mtr = defineCheck({
  type: 'mtr',
  summary: 'Measures loss and round trips of each router on the path to a host.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: ['hops', 'loss', 'rtt_min', 'rtt_mean', 'rtt_max', 'rtt_deviation'],
  deadlineMs,
  apiOptions,
  sendsMany: true,
  port: () => null,
  start: (environment) =>
    startPath<Spec, Detail>(environment, {
      pace: ({ packets, interval }) => ({ queries: packets, everyMs: interval }),
      conclude(path, { timeout }, phases) {
        const figures = [...figuresOf(path.hops)];
        const known = { phases, timeoutMs: timeout };
        if (path.end !== 'reached') {
          const facts = path.end === 'error' ? {} : { loss: 1 };
          return outcomeOfPath(path, { path, figures }, { ...known, seconds: null, facts });
        }
        const { loss = 0, mean, best, worst, deviation } = figures.at(-1) ?? {};
        const facts = {
          loss,
          ...(typeof best === 'number' && { rtt_min: best }),
          ...(typeof mean === 'number' && { rtt_mean: mean }),
          ...(typeof worst === 'number' && { rtt_max: worst }),
          ...(typeof deviation === 'number' && { rtt_deviation: deviation }),
        };
        return outcomeOfPath(path, { path, figures }, { ...known, seconds: mean ?? null, facts });
      },
    }),
  answers: ({ detail }) => (detail === null ? null : pathAnswers(detail.path)),
  lines,
  forStrangers,
  row: null,
  table,
});
