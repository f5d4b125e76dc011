import type { ProbeEnvironment, Prober } from '../check.ts';
import { outcomeOfPath } from '../path/conclusion.ts';
import { startPath } from '../path/prober.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';
import { queryGapMs } from './deadline.ts';

export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  return startPath<Spec, Detail>(environment, {
    pace: ({ queries }) => ({ queries, everyMs: queryGapMs }),
    conclude(trace, { timeout }, phases) {
      const times = trace.hops.at(-1)?.probes.flatMap(({ seconds }) => (seconds === null ? [] : [seconds])) ?? [];
      const mean = times.reduce((sum, seconds) => sum + seconds, 0) / times.length;
      const seconds = times.length === 0 ? null : Math.round(mean * 1e6) / 1e6;
      return outcomeOfPath(trace, trace, { phases, timeoutMs: timeout, seconds, facts: {} });
    },
  });
}
