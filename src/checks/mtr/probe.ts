import type { ProbeEnvironment, Prober } from '../check.ts';
import type { Fact, Outcome } from '../outcome.ts';
import { outcomeOfPath, type PathContext } from '../path/conclusion.ts';
import { withFewerProbes } from '../path/fewer-probes.ts';
import { startPath } from '../path/prober.ts';
import type { PathTrace } from '../path/trace.ts';
import type { Detail, HopFigures } from './detail.ts';
import { figuresOf } from './figures.ts';
import type { Spec } from './spec.ts';

export async function start(environment: ProbeEnvironment): Promise<Prober<Spec, Detail>> {
  return startPath<Spec, Detail>(environment, {
    pace: ({ packets, interval }) => ({ queries: packets, everyMs: interval, countsLoss: true }),
    conclude: (path, { timeout }, phases) => conclude(path, { phases, timeoutMs: timeout }),
  });
}

// A message between a node and a hub has 64 KiB (`messageLimit`); figures of 64 hops take 14.
const mostPathBytes = 44 * 1_024;

function conclude(path: PathTrace, known: Pick<PathContext, 'phases' | 'timeoutMs'>): Outcome<Detail> {
  const figures = [...figuresOf(path.hops)];
  const last = path.end === 'reached' ? figures.at(-1) : undefined;
  // What could not be sent is not lost.
  const facts = last === undefined ? (path.end === 'error' ? {} : { loss: 1 }) : factsOf(last);
  const detail = { path: withFewerProbes(path, mostPathBytes), figures };
  return outcomeOfPath(path, detail, { ...known, seconds: last?.mean ?? null, facts });
}

function factsOf({ loss, best, mean, worst, deviation }: HopFigures): Partial<Record<Fact, number>> {
  return {
    loss,
    ...(best !== null && { rtt_min: best }),
    ...(mean !== null && { rtt_mean: mean }),
    ...(worst !== null && { rtt_max: worst }),
    ...(deviation !== null && { rtt_deviation: deviation }),
  };
}
