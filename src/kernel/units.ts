/** An hour in milliseconds. */
export const hourMs = 3_600_000;

/** A day in milliseconds. */
export const dayMs = 86_400_000;

const unitMs: ReadonlyMap<string, number> = new Map([
  ['d', dayMs],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]);

export const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const durationPart = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Milliseconds of a duration such as `30s`, `1m30s` or `1.5h`; null if the text is none. */
export function parseDuration(text: string): number | null {
  if (!durationPattern.test(text)) return null;
  let total = 0;
  for (const [, count, unit = ''] of text.matchAll(durationPart))
    total += Number(count) * (unitMs.get(unit) ?? Number.NaN);
  return Math.round(total);
}

/** The shortest exact writing of whole milliseconds: `90000` is `1m30s`. */
export function formatDuration(ms: number): string {
  let left = Math.round(ms);
  let text = '';
  for (const [unit, length] of unitMs) {
    const count = Math.floor(left / length);
    if (count > 0) text += `${count}${unit}`;
    left -= count * length;
  }
  return text === '' ? '0ms' : text;
}

/** The two largest units of a duration, for people: `1h 5m`, `42s`, `850ms`. */
export function describeDuration(ms: number): string {
  const parts = formatDuration(ms >= 1_000 ? Math.round(ms / 1_000) * 1_000 : ms).match(/\d+[a-z]+/g) ?? ['0ms'];
  return parts.slice(0, 2).join(' ');
}

/** A measured time with three significant digits, for people: `45.1 µs`, `131 ms`, `1.25 s`, `25.0 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 10) return `${seconds.toFixed(1)} s`;
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds > 0 && seconds < 0.0009995) return `${Number((seconds * 1_000_000).toPrecision(3))} µs`;
  return `${Number((seconds * 1_000).toPrecision(3))} ms`;
}
