import { Cron } from 'croner';
import { z } from 'zod';
import { isTimeZone, timeZoneNames } from '#kernel/zoned-time.ts';

const cronHint = 'expected five fields (minute hour day month weekday), or six with the second first';

interface Field {
  readonly name: string;
  readonly range: string;
}

const fields: readonly Field[] = [
  { name: 'second', range: '0 to 59' },
  { name: 'minute', range: '0 to 59' },
  { name: 'hour', range: '0 to 23' },
  { name: 'day', range: '1 to 31' },
  { name: 'month', range: '1 to 12 or JAN to DEC' },
  { name: 'weekday', range: '0 to 7 or SUN to SAT' },
];

/** A cron pattern of five fields, or six with the second first, that comes true at some time. */
export const CronPattern = z.string({ error: `${cronHint}, such as "*/5 * * * *"` }).superRefine((pattern, context) => {
  const fault = cronFault(pattern);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault.message, params: { part: fault.part } });
});

/** A time zone that this machine knows, such as `Europe/Berlin`. */
export const TimeZone = z
  .string({ error: 'expected a time zone, such as "Europe/Berlin" or "UTC"' })
  .superRefine((zone, context) => {
    if (isTimeZone(zone)) return;
    const params = { options: timeZoneNames() };
    context.addIssue({ code: 'custom', message: `no time zone is named "${zone}"`, params });
  });

interface CronError {
  readonly message: string;
  /** The piece of the pattern that is wrong. */
  readonly part: string;
}

// Croner says which kind of mistake it met but not where, so each field is tried with all others open.
function cronFault(pattern: string): CronError | null {
  const written = pattern.trim().split(/\s+/).filter(Boolean);
  const named = fields.slice(fields.length - written.length);
  if (written.length !== 5 && written.length !== 6) {
    return { message: `${cronHint}, not ${written.length}`, part: pattern };
  }
  for (const [index, part] of written.entries()) {
    const alone = named.map((_, other) => (other === index ? part : '*')).join(' ');
    const field = named[index];
    if (field === undefined || (!part.includes('?') && compile(alone) !== null)) continue;
    const message = `"${part}" is not a valid ${field.name}: it takes ${field.range}, "*", lists "1,2", ranges "1-5" and steps "*/5"`;
    return { message, part };
  }
  const cron = compile(pattern);
  if (cron === null) return { message: 'is no cron pattern', part: pattern };
  if (cron.nextRun(leapYear) === null) return { message: 'this date never comes', part: pattern };
  return null;
}

const leapYear = new Date('2024-01-01T00:00:00Z');

function compile(pattern: string): Cron | null {
  try {
    return new Cron(pattern, { mode: '5-or-6-parts', timezone: 'UTC', paused: true });
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
}
