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

/** `2026-01-01 12:01 to 12:09 UTC`, with the second date if it is another day. */
export function formatSpan(from: number, to: number, zone: string): string {
  const [first, last] = [partsOf(from, zone), partsOf(to, zone)];
  const start = `${first.date} ${first.time.slice(0, 5)}${first.zone === last.zone ? '' : ` ${first.zone}`}`;
  return `${start} to ${first.date === last.date ? '' : `${last.date} `}${last.time.slice(0, 5)} ${last.zone}`;
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
    date: `${found['year']}-${found['month']}-${found['day']}`,
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
