import { defineCheck } from '../check.ts';
import { pathAnswers } from '../path/addresses.ts';
import { outcomeOfPath } from '../path/conclusion.ts';
import { startPath } from '../path/prober.ts';
import { Detail, forStrangers } from './detail.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { deadlineMs, queryGapMs, Spec } from './spec.ts';
import { table } from './table.ts';

/** The routers on the way to a host. `seconds` is the mean round trip to the host itself. */
export const traceroute = defineCheck({
  type: 'traceroute',
  summary: 'Finds the routers on the path to a host, and where it ends.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: ['hops'],
  deadlineMs,
  apiOptions,
  sendsMany: true,
  port: () => null,
  start: (environment) =>
    startPath<Spec, Detail>(environment, {
      pace: ({ queries }) => ({ queries, everyMs: queryGapMs }),
      conclude(trace, { timeout }, phases) {
        const times = trace.hops.at(-1)?.probes.flatMap(({ seconds }) => (seconds === null ? [] : [seconds])) ?? [];
        const mean = times.reduce((sum, seconds) => sum + seconds, 0) / times.length;
        const seconds = times.length === 0 ? null : Math.round(mean * 1e6) / 1e6;
        return outcomeOfPath(trace, trace, { phases, timeoutMs: timeout, seconds, facts: {} });
      },
    }),
  answers: ({ detail }) => (detail === null ? null : pathAnswers(detail)),
  lines,
  forStrangers,
  row: null,
  table,
});
