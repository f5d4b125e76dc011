import type { PathHop } from '../path/path-trace.ts';
import type { HopFigures } from './detail.ts';

/** The figures of each hop. */
export function figuresOf(hops: readonly PathHop[]): readonly HopFigures[] {
  const answered = hops.map(({ probes }) => probes.filter(({ kind }) => kind !== 'none').length);
  return hops.map(({ hop, probes }, index) => {
    const received = answered[index] ?? 0;
    const sent = probes.length;
    const isBehindWhole = hops.some((other, at) => at > index && answered[at] === other.probes.length);
    return {
      hop,
      sent,
      received,
      loss: toMillionths(1 - received / sent),
      ...timesOf(probes.flatMap(({ seconds }) => (seconds === null ? [] : [seconds]))),
      limits_answers: received > 0 && received < sent && isBehindWhole,
    };
  });
}

type RoundTripFigures = Pick<HopFigures, 'last' | 'mean' | 'best' | 'worst' | 'deviation' | 'jitter'>;

function timesOf(seconds: readonly number[]): RoundTripFigures {
  const last = seconds.at(-1);
  if (last === undefined) return { last: null, mean: null, best: null, worst: null, deviation: null, jitter: null };
  const mean = meanOf(seconds);
  const differences = seconds.slice(1).map((one, index) => Math.abs(one - (seconds[index] ?? one)));
  return {
    last,
    mean: toMillionths(mean),
    best: Math.min(...seconds),
    worst: Math.max(...seconds),
    deviation: toMillionths(Math.sqrt(meanOf(seconds.map((one) => (one - mean) ** 2)))),
    jitter: differences.length === 0 ? null : toMillionths(meanOf(differences)),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function toMillionths(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
