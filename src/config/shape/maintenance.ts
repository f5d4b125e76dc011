import { z } from 'zod';
import { always } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { CronPattern, TimeZone } from './schedule.ts';
import { Names } from './target.ts';

const listHint = 'expected a list, such as [{ targets: all, cron: "0 3 * * 0", duration: 1h }]';
const timeHint = 'expected a time with its zone, such as "2026-12-24T22:00Z" or "2026-12-24T23:00+01:00"';
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})$/;

// Date.parse takes the 30th of February for the 2nd of March.
function isDate(day: string): boolean {
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day);
}

/** A moment with its zone; milliseconds since the epoch inside the program. */
const Moment = z.codec(z.string({ error: timeHint }).regex(timePattern, { error: timeHint }), z.number(), {
  decode(text, context) {
    const at = Date.parse(text);
    if (!Number.isNaN(at) && isDate(text.slice(0, 10))) return at;
    context.issues.push({ code: 'custom', input: text, message: 'there is no such time' });
    return z.NEVER;
  },
  encode: (at) => new Date(at).toISOString().replace('.000Z', 'Z'),
});

const times = {
  cron: CronPattern.optional().describe('When it begins, again and again: five fields, or six with seconds.'),
  timezone: TimeZone.optional().describe('The time zone of cron. Default: defaults.timezone.'),
  duration: Duration({ min: '1m', max: '30d' }).optional().describe('How long it takes each time. With cron.'),
  from: Moment.optional().describe('When it begins, once.'),
  to: Moment.optional().describe('When it ends, once.'),
};

type Times = z.output<z.ZodObject<typeof times>>;

function checkTimes(entry: Times, context: z.RefinementCtx): void {
  const say = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  const has = (key: keyof typeof entry) => entry[key] !== undefined;
  if (!has('cron') && !has('from') && !has('to')) return say('cron', 'is missing: cron and duration, or from and to');
  for (const key of ['from', 'to'] as const) {
    if (has('cron') && has(key)) say(key, 'cannot be set together with cron');
    else if (!has('cron') && !has(key)) say(key, 'is missing: a time that comes once has from and to');
  }
  for (const key of ['timezone', 'duration'] as const) {
    if (!has('cron') && has(key)) say(key, 'needs cron, and there is none');
  }
  if (has('cron') && !has('duration')) say('duration', 'is missing: the length of each window');
  if (entry.from !== undefined && entry.to !== undefined && entry.to <= entry.from) say('to', 'must be after from');
}

const MaintenanceEntry = z
  .strictObject({
    targets: z
      .union([z.literal('all'), Names('targets', 100_000).refine((names) => names.length > 0)], {
        error: 'expected all, or a list of names under targets',
      })
      .describe('The targets whose notifications are suppressed meanwhile: all, or names.'),
    ...times,
  })
  .superRefine(checkTimes, always);

/** The same without targets: those of a group. */
export const MaintenanceTimes = z
  .array(z.strictObject(times).superRefine(checkTimes, always), { error: listHint })
  .max(100);

export const MaintenanceList = z
  .array(MaintenanceEntry, { error: listHint })
  .max(1_000)
  .default([])
  .describe(
    'When notifications are suppressed. Checks and history go on, and recoveries of incidents notified before are sent.',
  );
