import { durationWithin } from '../convert.ts';
import type { Draft, PlainMap } from '../draft.ts';
import type { KumaData, KumaMaintenance } from './schema.ts';

/** Adds the maintenance of Kuma, for the targets that its monitors have become. */
export function addMaintenance(
  { maintenance, settings, place }: KumaData,
  names: ReadonlyMap<number, string>,
  draft: Draft,
): void {
  for (const one of maintenance) {
    const title = `maintenance ${one.title ?? one.id}`;
    if (!one.active) {
      draft.note('left out', place, `${title}: it is not active`);
      continue;
    }
    const targets = one.monitors.flatMap((id) => names.get(id) ?? []);
    const timezone =
      one.timezone === undefined || one.timezone === 'SAME_AS_SERVER' ? settings.get('serverTimezone') : one.timezone;
    const time = timeOf(one, timezone ?? 'UTC');
    if (targets.length === 0) draft.note('left out', place, `${title}: none of its monitors is watched`);
    else if (typeof time === 'string') draft.note('left out', place, `${title}: ${time}`);
    else draft.maintenance.push({ targets, ...time });
    if (typeof time !== 'string' && one.strategy === 'recurring-interval' && one.interval_day > 1)
      draft.note('differs', place, `${title}: every ${one.interval_day} days restarts with each month`);
    if (typeof time !== 'string' && one.strategy !== 'single' && (one.start_date ?? one.end_date) !== undefined)
      draft.note('lost', place, `${title}: the day that it begins or ends for good`);
  }
}

function timeOf(one: KumaMaintenance, timezone: string): PlainMap | string {
  if (one.strategy === 'manual') return 'it is switched on by hand: watchpost silence add does that';
  if (one.strategy === 'single') {
    const [from, to] = [instantOf(one.start_date, timezone), instantOf(one.end_date, timezone)];
    return from === null || to === null ? 'it has no beginning or no end' : { from, to };
  }
  const cron = patternOf(one);
  const seconds = one.duration > 0 ? one.duration : lengthOf(one);
  if (cron === null || seconds === 0) return 'its times cannot be read';
  return {
    cron,
    timezone: timezone === 'UTC' ? undefined : timezone,
    duration: durationWithin(seconds * 1_000, 60_000, 2_592_000_000),
  };
}

function patternOf({
  strategy,
  cron,
  start_time,
  weekdays,
  days_of_month,
  interval_day,
}: KumaMaintenance): string | null {
  const [, hour, minute] = /^(\d\d?):(\d\d)/.exec(start_time ?? '') ?? [];
  if (strategy === 'cron' || hour === undefined) return cron?.replaceAll(/\s+/g, ' ') ?? null;
  const at = `${Number(minute)} ${Number(hour)}`;
  if (strategy === 'recurring-weekday') return `${at} * * ${weekdays.map((day) => day % 7).join(',')}`;
  if (strategy === 'recurring-interval') return `${at} ${interval_day > 1 ? `*/${interval_day}` : '*'} * *`;
  const days = days_of_month.map((day) => (typeof day === 'number' ? day : 'L'));
  return `${at} ${[...new Set(days)].join(',')} * *`;
}

// Over midnight if it ends before it begins.
function lengthOf({ start_time = '', end_time = '' }: KumaMaintenance): number {
  const [start, end] = [start_time, end_time].map((time) => {
    const [hours = 0, minutes = 0] = time.split(':').map(Number);
    return hours * 3_600 + minutes * 60;
  });
  return ((end ?? 0) - (start ?? 0) + 86_400) % 86_400;
}

// `2026-12-24 22:00:00` in a zone as a time with its offset.
function instantOf(text: string | undefined, timezone: string): string | null {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)/.exec(text ?? '') ?? [];
  if (date === undefined || time === undefined) return null;
  if (/Z$|[+-]\d\d:\d\d$/.test(text ?? '')) return `${date}T${time}Z`;
  const guess = Date.parse(`${date}T${time}Z`);
  const zone = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  const name = zone.formatToParts(guess).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const offset = name.replace('GMT', '');
  return `${date}T${time}${offset === '' ? 'Z' : offset}`;
}
