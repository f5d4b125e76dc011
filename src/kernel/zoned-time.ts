interface ZonedParts {
  readonly date: string;
  readonly time: string;
  readonly zone: string;
}

/** `2026-01-01 12:01:00 UTC`, or with the offset if the IANA zone is another: `2026-01-01 13:01:00 +01:00`. */
export function formatTime(at: number, zone: string): string {
  const parts = partsOf(at, zone);
  return `${parts.date} ${parts.time} ${parts.zone}`;
}

/** `2026-01-01 12:01 to 12:09 UTC`, with the second date if it is another day; only the first time if it is the same minute. */
export function formatSpan(from: number, to: number, zone: string): string {
  const [first, last] = [partsOf(from, zone), partsOf(to, zone)];
  const minute = ({ date, time, zone: of }: typeof first) => `${date} ${time.slice(0, 5)} ${of}`;
  if (minute(first) === minute(last)) return minute(first);
  const start = `${first.date} ${first.time.slice(0, 5)}${first.zone === last.zone ? '' : ` ${first.zone}`}`;
  return `${start} to ${first.date === last.date ? '' : `${last.date} `}${last.time.slice(0, 5)} ${last.zone}`;
}

/** Whether this machine knows a time zone: an IANA name such as `Europe/Berlin`, or an offset such as `+01:00`. */
export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) instanceof Intl.DateTimeFormat;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The names of the time zones that this machine knows. */
export function timeZoneNames(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

/** The month of a moment in a time zone, such as `2026-10`. */
export function monthAt(at: number, zone: string): string {
  return partsOf(at, zone).date.slice(0, -3);
}

/** The first moment of a month such as `2026-10` in a time zone, and that of the next one; milliseconds since the epoch. */
export function monthSpan(month: string, zone: string): { readonly from: number; readonly to: number } {
  const number = monthNumber(month);
  return { from: startOfMonth(number, zone), to: startOfMonth(number + 1, zone) };
}

function monthNumber(date: string): number {
  const [year = 0, month = 1] = date.split('-').map(Number);
  return year * 12 + month - 1;
}

// No zone has ever been further from UTC.
const furthestMs = 16 * 3_600_000;

// The first midnight may not exist (Asuncion, October 2017), so the start is searched for, not computed from an offset.
function startOfMonth(number: number, zone: string): number {
  const inUtc = new Date(0).setUTCFullYear(Math.floor(number / 12), number % 12, 1);
  let [before, start] = [inUtc - furthestMs, inUtc + furthestMs];
  while (start - before > 1_000) {
    const middle = before + Math.floor((start - before) / 2_000) * 1_000;
    if (monthNumber(partsOf(middle, zone).date) < number) before = middle;
    else start = middle;
  }
  return start;
}

/**
 * The moment of a local time such as `2026-10-25T02:30:00` in a time zone. Of a time that a clock change repeats the first one is taken;
 * a time that it skips counts by the offset before the change, so that 02:30 is 03:30 (RFC 5545, section 3.3.5). NaN for no such date.
 */
export function momentIn(zone: string, local: string): number {
  const inUtc = Date.parse(`${local}Z`);
  if (Number.isNaN(inUtc) || new Date(inUtc).toISOString().slice(0, 19) !== local) return Number.NaN;
  const [before, after] = [inUtc - changeMs, inUtc + changeMs].map((at) => inUtc - offsetAt(at, zone));
  if (before === undefined || after === undefined) return Number.NaN;
  const found = [before, after].filter((at) => at + offsetAt(at, zone) === inUtc);
  return found.length === 0 ? before : Math.min(...found);
}

/** The date of a moment in a time zone, such as `2026-10-25`. */
export function dateAt(at: number, zone: string): string {
  return partsOf(at, zone).date;
}

// No two changes of a clock were ever nearer to each other.
const changeMs = 86_400_000;

function offsetAt(at: number, zone: string): number {
  const { date, time } = partsOf(at, zone);
  return Date.parse(`${date}T${time}Z`) - Math.floor(at / 1_000) * 1_000;
}

const utcTime = /\b(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) UTC\b/g;

/**
 * A stored text with each time that `formatTime` wrote in UTC rewritten in a time zone, to the minute, and without the date if that is the
 * day of `now` there: `no ping since 18:29`.
 */
export function timesInZone(text: string, zone: string, now: number): string {
  const today = partsOf(now, zone).date;
  return text.replace(utcTime, (written: string, date: string, time: string) => {
    const at = Date.parse(`${date}T${time}Z`);
    if (Number.isNaN(at)) return written;
    const parts = partsOf(at, zone);
    return `${parts.date === today ? '' : `${parts.date} `}${parts.time.slice(0, 5)}`;
  });
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(at: number, zone: string): ZonedParts {
  if (zone === 'UTC') {
    const [date = '', rest = ''] = new Date(at).toISOString().split('T');
    return { date, time: rest.slice(0, 8), zone };
  }
  const found = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const offset = (found['timeZoneName'] ?? '').replace('GMT', '');
  return {
    date: `${found['year']?.padStart(4, '0')}-${found['month']}-${found['day']}`,
    time: `${found['hour']}:${found['minute']}:${found['second']}`,
    zone: offset || '+00:00',
  };
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  });
  formats.set(zone, format);
  return format;
}
