import { z } from 'zod';
import type { HourRange } from '#monitor/notify/hours.ts';

const hint = 'expected days and hours, such as "mon-fri 08:00-18:00", "sat,sun 10:00-14:00" or "daily 22:00-06:00"';
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const form = /^(\S+) +([01]\d|2[0-3]):([0-5]\d) *- *(?:([01]\d|2[0-3]):([0-5]\d)|(24):00)$/;

const HourRangeText = z.codec(z.string({ error: hint }), z.custom<HourRange>(), {
  decode(text, context): HourRange {
    const [, dayText = '', fromHour, fromMinute, toHour, toMinute, midnight] =
      form.exec(text.trim().toLowerCase()) ?? [];
    const range = {
      days: daysOf(dayText),
      from: Number(fromHour) * 60 + Number(fromMinute),
      to: midnight === undefined ? Number(toHour) * 60 + Number(toMinute) : 1_440,
    };
    if (range.days.length === 0 || range.from === range.to)
      context.issues.push({ code: 'custom', input: text, message: hint });
    return range;
  },
  encode: ({ days: which, from, to }) => `${which.map((day) => days[day]).join(',')} ${clock(from)}-${clock(to)}`,
});

/** The hours in which a recipient may be notified. */
export const HourRanges = z
  .union([HourRangeText, z.array(HourRangeText).min(1).max(20)], { error: hint })
  .transform((written): readonly HourRange[] => [written].flat());

// `mon-fri`, `sat,sun`, `fri-mon`, `daily`; nothing if it is none of these.
function daysOf(text: string): readonly number[] {
  if (text === 'daily') return days.map((_, index) => index);
  const all = text.split(',').map((part) => {
    const [first = -1, last = first, ...more] = part.split('-').map((name) => days.indexOf(name));
    if (first < 0 || last < 0 || more.length > 0) return [];
    return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, index) => (first + index) % 7);
  });
  return all.some((part) => part.length === 0) ? [] : [...new Set(all.flat())].toSorted((a, b) => a - b);
}

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
