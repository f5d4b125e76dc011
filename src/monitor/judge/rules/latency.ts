import { z } from 'zod';
import { describeDuration, formatDuration, formatSeconds } from '#kernel/units.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { defineRuleKind, unknownJudgement, type RecentTime } from './kind.ts';

const statistics = ['p50', 'p95', 'p99', 'mean', 'max', 'last'] as const;
export type Statistic = (typeof statistics)[number];

const Options = z
  .strictObject({
    above: Duration({ min: '1ms', max: '10m' }).describe('An incident opens above this.'),
    clear: Duration({ min: '1ms', max: '10m' })
      .optional()
      .describe('It closes at this or below; between the two nothing changes. Default: the same as above.'),
    statistic: z
      .enum(statistics)
      .default('p95')
      .describe('What is compared: a percentile, the mean, the longest or the last time within the window.'),
    window: Duration({ min: '10s', max: '1d' })
      .default(600_000)
      .describe('How far back the results count, at most the last 1000 of each node.'),
  })
  .superRefine(({ above, clear }, context) => {
    if (clear !== undefined && clear > above)
      context.addIssue({ code: 'custom', path: ['clear'], message: 'must be at most what above is' });
  });

const fewestResults = 3;

/** The target answers, but takes too long for it. */
export const latency = defineRuleKind({
  key: 'latency',
  summary: 'The target takes too long: a statistic of its recent times is above a level.',
  Options,
  wording: {
    word: 'SLOW',
    noun: 'Slow',
    is: 'is slow',
    was: 'was slow',
    again: 'fast enough again',
    began: 'became slow',
    ended: 'became fast enough',
  },
  severity: 'warning',
  nodes: { kind: 'majority' },
  isThreshold: false,
  isOutage: false,
  canBeConfirmed: false,
  windowMs: ({ window }) => window,
  refuses(_, { statistic, window }, everyMs) {
    if (everyMs === null || statistic === 'last' || window >= fewestResults * everyMs) return null;
    const [length, every, least] = [window, everyMs, fewestResults * everyMs].map(formatDuration);
    return `a window of ${length} holds fewer than ${fewestResults} results of a target that is checked every ${every}; make it ${least} or more, or use statistic: last`;
  },
  judge({ above, clear = above, statistic, window }, { outcome, recentTimes, isOpen }) {
    if (outcome.status !== 'up' || recentTimes.length === 0) return unknownJudgement(outcome);
    const ms = statisticOf(recentTimes, statistic) * 1_000;
    const message = `${nameOf(statistic, window)} is ${formatSeconds(ms / 1_000)}`;
    if (ms > above) return { status: 'down', reason: 'above', message };
    if (isOpen && ms > clear) return { status: 'down', reason: 'not_clear', message };
    return { status: 'up', reason: 'below', message: null };
  },
  describe: ({ above, statistic, window }) => `${nameOf(statistic, window)} above ${formatSeconds(above / 1_000)}`,
});

function nameOf(statistic: Statistic, windowMs: number): string {
  return statistic === 'last' ? 'the time' : `${statistic} of ${describeDuration(windowMs)}`;
}

/** A figure of some recentTimes in seconds; percentiles by nearest rank. NaN if there is no time. */
export function statisticOf(recentTimes: readonly RecentTime[], statistic: Statistic): number {
  const seconds = recentTimes.map((time) => time.seconds);
  switch (statistic) {
    case 'last':
      return seconds.at(-1) ?? Number.NaN;
    case 'mean':
      return seconds.reduce((sum, one) => sum + one, 0) / seconds.length;
    case 'max':
      return percentile(seconds, 1);
    case 'p50':
      return percentile(seconds, 0.5);
    case 'p95':
      return percentile(seconds, 0.95);
    case 'p99':
      return percentile(seconds, 0.99);
  }
}

function percentile(seconds: readonly number[], share: number): number {
  const sorted = Float64Array.from(seconds).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)] ?? Number.NaN;
}
