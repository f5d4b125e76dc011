import { z } from 'zod';
import { describeObjective, longestMonthMs } from '#history/budget.ts';
import type { Objective } from '#history/reader.ts';
import { dayMs, formatDuration, parseDuration } from '#kernel/units.ts';
import { suggestion } from '#kernel/wording.ts';
import { isTimeZone, timeZoneNames } from '#kernel/zoned-time.ts';

const hint = 'expected a share of the time and a period, such as "99.9% over 30d" or "99.9% over month", or none';
const pattern = /^(\d{1,3}(?:\.\d{1,6})?)% over (?:month(?: in (\S+))?|(\S+))$/;
const shortestMs = dayMs;
const longestMs = 400 * dayMs;

/** `99.9% over 30d`, `99.9% over month in Europe/Berlin` (the calendar month, of UTC unless a zone is named), or `none`, which is null inside the program. */
export const ObjectiveText = z.codec(
  z.string({ error: hint }).regex(/^(?:none|\d{1,3}(?:\.\d{1,6})?% over (?:month in )?\S+)$/, { error: hint }),
  z.custom<Objective | null>(),
  {
    decode(text, context): Objective | null {
      if (text === 'none') return null;
      const [, percent, zone = 'UTC', period] = pattern.exec(text) ?? [];
      const say = (message: string) => context.issues.push({ code: 'custom', input: text, message });
      const overMs = period === undefined ? longestMonthMs : parseDuration(period);
      const ratio = Number((Number(percent) / 100).toFixed(8));
      if (overMs === null) say(hint);
      else if (overMs < shortestMs || overMs > longestMs)
        say(`a period is from ${formatDuration(shortestMs)} to ${formatDuration(longestMs)}`);
      if (ratio === 1) say('100% leaves no error budget; use 99.99% or less');
      else if (ratio > 1 || ratio < 0.5) say('the share is from 50% to less than 100%');
      if (!isTimeZone(zone)) say(`no time zone is named "${zone}"${suggestion(zone, timeZoneNames())}`);
      return { ratio, overMs: overMs ?? 0, ...(period === undefined ? { monthIn: zone } : {}) };
    },
    encode: (objective) => (objective === null ? 'none' : describeObjective(objective)),
  },
);
