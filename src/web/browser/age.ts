const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const oldestMs = 30 * dayMs;

/** An age in milliseconds as words; null if the exact time says more: a month ago, or more than a minute ahead of the viewer's clock. */
export function ageOf(ms: number): string | null {
  if (ms < -minuteMs || ms >= oldestMs) return null;
  if (ms < minuteMs) return 'just now';
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min ago`;
  return ms < 2 * dayMs ? `${Math.floor(ms / hourMs)} h ago` : `${Math.floor(ms / dayMs)} days ago`;
}

/** The same in the words of a language. */
export function ageIn(locale: string, ms: number): string | null {
  if (ms < -minuteMs || ms >= oldestMs) return null;
  const words = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  if (ms < minuteMs) return words.format(0, 'second');
  if (ms < hourMs) return words.format(-Math.floor(ms / minuteMs), 'minute');
  return ms < 2 * dayMs ? words.format(-Math.floor(ms / hourMs), 'hour') : words.format(-Math.floor(ms / dayMs), 'day');
}
