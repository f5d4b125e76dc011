const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const delimiters = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/;

/**
 * The wall time in milliseconds that the date of a cookie means, always UTC; null for what is no date, such as the 0 and -1 that servers
 * send for a cookie of the session. Parts may stand in any order (RFC 6265, section 5.1.1).
 */
export function cookieDate(text: string): number | null {
  let time: readonly number[] | null = null;
  let day: number | null = null;
  let month: number | null = null;
  let year: number | null = null;
  for (const token of text.split(delimiters)) {
    const clock = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/.exec(token);
    const named = months.indexOf(token.slice(0, 3).toLowerCase());
    if (time === null && clock !== null) time = clock.slice(1).map(Number);
    else if (day === null && /^\d{1,2}(?!\d)/.test(token)) day = Number.parseInt(token, 10);
    else if (month === null && named !== -1) month = named;
    else if (year === null && /^\d{2,4}(?!\d)/.test(token)) year = wholeYear(Number.parseInt(token, 10));
  }
  if (time === null || day === null || month === null || year === null) return null;
  const [hour = 0, minute = 0, second = 0] = time;
  if (hour > 23 || minute > 59 || second > 59 || year < 1_601) return null;
  const at = new Date(Date.UTC(year, month, day, hour, minute, second));
  return at.getUTCDate() === day && at.getUTCMonth() === month ? at.getTime() : null;
}

function wholeYear(year: number): number {
  if (year < 70) return year + 2_000;
  return year < 100 ? year + 1_900 : year;
}
