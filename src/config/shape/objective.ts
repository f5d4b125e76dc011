import { z } from 'zod';
import { describeObjective } from '#history/budget.ts';
import type { Objective } from '#history/reader.ts';
import { dayMs, formatDuration, parseDuration } from '#kernel/units.ts';

const hint = 'expected a share of the time and a period, such as "99.9% over 30d", or none';
const pattern = /^(\d{1,3}(?:\.\d{1,6})?)% over (\S+)$/;
const shortestMs = dayMs;
const longestMs = 400 * dayMs;

/** `99.9% over 30d`, or `none`, which is null inside the program. */
export const ObjectiveText = z.codec(
  z.string({ error: hint }).regex(/^(?:none|\d{1,3}(?:\.\d{1,6})?% over \S+)$/, { error: hint }),
  z.custom<Objective | null>(),
  {
    decode(text, context): Objective | null {
      if (text === 'none') return null;
      const [, percent, period = ''] = pattern.exec(text) ?? [];
      const say = (message: string) => context.issues.push({ code: 'custom', input: text, message });
      const overMs = parseDuration(period);
      const ratio = Number((Number(percent) / 100).toFixed(8));
      if (overMs === null) say(hint);
      else if (overMs < shortestMs || overMs > longestMs)
        say(`a period is from ${formatDuration(shortestMs)} to ${formatDuration(longestMs)}`);
      if (ratio === 1) say('100% leaves no error budget; use 99.99% or less');
      else if (ratio > 1 || ratio < 0.5) say('the share is from 50% to less than 100%');
      return { ratio, overMs: overMs ?? 0 };
    },
    encode: (objective) => (objective === null ? 'none' : describeObjective(objective)),
  },
);
