import { Cron } from 'croner';

/** When a recipient may be notified, by its local time. */
export interface Hours {
  /** IANA name. */
  readonly zone: string;
  readonly ranges: readonly HourRange[];
}

/** From a minute of these days (0 is Sunday) until before another one: of the next day if it is not later. */
export interface HourRange {
  readonly days: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** Whether the wall clock shows a time within these hours: on the days when clocks are changed too, it is what it shows. */
export function isWithin({ zone, ranges }: Hours, at: number): boolean {
  const { day, minute } = wallClock(at, zone);
  const before = (day + 6) % 7;
  return ranges.some(({ days, from, to }) => {
    if (from < to) return days.includes(day) && minute >= from && minute < to;
    return (days.includes(day) && minute >= from) || (days.includes(before) && minute < to);
  });
}

/**
 * When such hours begin next after a moment. A beginning that falls into the hour that a change of clocks leaves out comes at its
 * end; one that falls into the hour that comes twice comes the first time.
 */
export function nextBeginning({ zone, ranges }: Hours, at: number): number {
  const begins = ranges.map(({ days, from }) => {
    const pattern = `${from % 60} ${Math.floor(from / 60)} * * ${days.join(',')}`;
    return new Cron(pattern, { timezone: zone, paused: true }).nextRun(new Date(at))?.getTime() ?? at;
  });
  return Math.min(...begins);
}

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const formats = new Map<string, Intl.DateTimeFormat>();

function wallClock(at: number, zone: string): { readonly day: number; readonly minute: number } {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    });
  formats.set(zone, format);
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  return { day: dayNames.indexOf(parts.get('weekday') ?? ''), minute };
}
