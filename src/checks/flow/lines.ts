import { formatSeconds } from '#kernel/units.ts';
import { certificateLines } from '../certificate.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

const width = 24;

/** The steps with their times, as a waterfall, and the certificate. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { steps, certificate } = detail;
  const end = Math.max(...steps.map(({ offset, seconds }) => offset + seconds), 1e-6);
  const longest = Math.max(...steps.map(({ name }) => name.length), 10);
  return [
    ...steps.map(({ name, method, status, url, offset, seconds, failed_expectation: unmet }) => {
      const before = Math.min(width - 1, Math.floor((offset / end) * width));
      const bar = `${' '.repeat(before)}${'█'.repeat(Math.max(1, Math.round((seconds / end) * width)))}`;
      const wrong = unmet === null ? '' : `  unmet: expect.${unmet}`;
      const answer = `${method} ${status ?? '-'}`.padEnd(10);
      return `${name.padEnd(longest)}   ${bar.slice(0, width).padEnd(width)} ${formatSeconds(seconds).padStart(8)}  ${answer} ${url}${wrong}`;
    }),
    ...(certificate === null ? [] : certificateLines(certificate)),
  ];
}
