import { formatSeconds } from '#kernel/units.ts';
import type { Outcome } from '../outcome.ts';
import type { Attempt, Detail } from './detail.ts';

/** One line for each echo request, and a summary. */
export function lines({ detail, facts }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { attempts, duplicates, timed_by } = detail;
  const answered = attempts.filter(({ status }) => status === 'OK').length;
  const loss = facts.loss === undefined ? '' : `, ${Number((facts.loss * 100).toFixed(1))}% lost`;
  const { rtt_min, rtt_mean, rtt_max, rtt_deviation } = facts;
  return [
    ...attempts.map(lineOf),
    `${attempts.length} sent, ${answered} answered${loss}`,
    ...(rtt_min === undefined || rtt_mean === undefined || rtt_max === undefined
      ? []
      : [`round trip ${[rtt_min, rtt_mean, rtt_max].map(formatSeconds).join(' / ')} (min / mean / max)`]),
    ...(rtt_deviation === undefined ? [] : [`deviation ${formatSeconds(rtt_deviation)}`]),
    ...(duplicates === 0 ? [] : [`${duplicates} ${duplicates === 1 ? 'reply' : 'replies'} came twice`]),
    ...(timed_by === 'clock' ? ["timed by this program's clock, not by the kernel"] : []),
  ];
}

function lineOf({ status, seconds, ttl, reason }: Attempt, index: number): string {
  const more = [ttl === null ? null : `TTL ${ttl}`, reason].filter((part) => part !== null);
  return [`#${index + 1}`, status.padEnd(12), formatSeconds(seconds).padEnd(9), ...more].join('  ').trimEnd();
}
