import { WatchpostError } from '#kernel/errors.ts';
import { dayMs } from '#kernel/units.ts';
import { dateAt, momentIn } from '#kernel/zoned-time.ts';

interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const date = String.raw`\d{4}-\d{2}-\d{2}`;
const time = String.raw`\d{2}:\d{2}(?::\d{2})?`;
const onlyTime = new RegExp(`^${time}$`);
const onlyDate = new RegExp(`^${date}$`);
const localTime = new RegExp(`^(${date})[T ](${time})$`);
const isoTime = new RegExp(String.raw`^${date}[T ]${time}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$`);

/**
 * A span of past time: `10:00..11:00` is the last such hours that are over, `2026-11-01..2026-11-02` two whole days, and both ends may be a
 * time with its date, in the zone or with an offset; the second may leave out the date or be `now`. Throws `usage`.
 */
export function timeRangeOf(text: string, zone: string, now: number): TimeRange {
  const [first, last, ...rest] = text.split('..').map((part) => part.trim());
  if (first === undefined || last === undefined || rest.length > 0 || first === '' || last === '') throw invalid(text);
  const range =
    onlyTime.test(first) && (onlyTime.test(last) || last === 'now')
      ? hoursBefore(first, last, zone, now)
      : { from: beginningOf(first, zone), to: endOf(last, first, zone, now) };
  if (Number.isNaN(range.from) || Number.isNaN(range.to)) throw invalid(text);
  if (range.from >= range.to) throw new WatchpostError('usage', `${text}: ends before it begins`);
  return range;
}

// The end decides: the last day on which it is over. A beginning that is later in the day was on the day before.
function hoursBefore(first: string, last: string, zone: string, now: number): TimeRange {
  const at = (daysAgo: number, of: string) => momentIn(zone, `${daysBefore(dateAt(now, zone), daysAgo)}T${full(of)}`);
  if (last === 'now') return { from: at(0, first) < now ? at(0, first) : at(1, first), to: now };
  const days = at(0, last) <= now ? 0 : 1;
  return { from: at(full(first) < full(last) ? days : days + 1, first), to: at(days, last) };
}

function beginningOf(text: string, zone: string): number {
  return onlyDate.test(text) ? momentIn(zone, `${text}T00:00:00`) : momentOf(text, zone);
}

function endOf(text: string, first: string, zone: string, now: number): number {
  if (text === 'now') return now;
  if (onlyDate.test(text)) return momentIn(zone, `${daysBefore(text, -1)}T00:00:00`);
  const [, day] = localTime.exec(first) ?? [];
  return onlyTime.test(text) && day !== undefined ? momentIn(zone, `${day}T${full(text)}`) : momentOf(text, zone);
}

function momentOf(text: string, zone: string): number {
  if (isoTime.test(text)) return Date.parse(text.replace(' ', 'T'));
  const [, day, clock] = localTime.exec(text) ?? [];
  return day === undefined || clock === undefined ? Number.NaN : momentIn(zone, `${day}T${full(clock)}`);
}

const full = (clock: string) => (clock.length === 5 ? `${clock}:00` : clock);

function daysBefore(day: string, days: number): string {
  const at = Date.parse(`${day}T00:00:00Z`) - days * dayMs;
  return Number.isNaN(at) ? '' : new Date(at).toISOString().slice(0, 10);
}

const invalid = (text: string) =>
  new WatchpostError(
    'usage',
    `${text}: expected a span such as 10:00..11:00, 2026-11-01T22:00..2026-11-02T01:30, 2026-11-01..2026-11-02 (whole days) or 10:00..now`,
  );
