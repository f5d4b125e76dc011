import { z } from 'zod';
import { dayMs, durationPattern, parseDuration, formatDuration } from './units.ts';

export interface Bounds {
  readonly min?: string;
  readonly max?: string;
}

const durationHint = 'expected a duration with its unit, such as "30s", "800ms" or "1m30s"';
// One for all durations: a schema takes a kilobyte.
const DurationText = z.string({ error: durationHint }).regex(durationPattern, { error: durationHint });
const Milliseconds = z.number();

/**
 * A duration with its unit (`30s`, `1m30s`, `800ms`, `14d`); milliseconds inside the program.
 * The bounds are durations too and inclusive.
 */
export function Duration(bounds: Bounds = {}) {
  const min = bounds.min === undefined ? 0 : parseBound(bounds.min);
  const max = bounds.max === undefined ? Number.MAX_SAFE_INTEGER : parseBound(bounds.max);
  return z.codec(DurationText, Milliseconds, {
    decode(text, context) {
      const ms = parseDuration(text) ?? Number.NaN;
      if (ms >= min && ms <= max) return ms;
      const range = [bounds.min && `at least ${bounds.min}`, bounds.max && `at most ${bounds.max}`].filter(Boolean);
      const message = range.length === 0 ? 'is too long to be counted' : `must be ${range.join(' and ')}`;
      context.issues.push({ code: 'custom', input: text, message });
      return z.NEVER;
    },
    encode: formatDuration,
  });
}

/** A share such as `20%`; a ratio from 0 to 1 inside the program. */
export function Percentage() {
  const hint = 'expected a percentage from 0% to 100%, such as "20%"';
  return z.codec(z.string({ error: hint }).regex(/^(?:100|\d{1,2}(?:\.\d+)?)%$/, { error: hint }), z.number(), {
    decode: (text) => Number(text.slice(0, -1)) / 100,
    encode: (ratio) => `${Number((ratio * 100).toFixed(6))}%`,
  });
}

const ratePattern = /^(\d{1,9})\/(s|min|h|d)$/;
const rateMs: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', dayMs],
]);

/** A rate such as `60/min` or `5/s`: so many in so many milliseconds inside the program. */
export function Rate() {
  const hint = 'expected a rate, such as "60/min", "5/s" or "1000/h"';
  return z.codec(
    z.string({ error: hint }).regex(ratePattern, { error: hint }),
    z.object({ count: z.number(), perMs: z.number() }),
    {
      decode(text, context) {
        const [, count, unit = ''] = ratePattern.exec(text) ?? [];
        if (Number(count) === 0) context.issues.push({ code: 'custom', input: text, message: 'must be at least 1' });
        return { count: Number(count), perMs: rateMs.get(unit) ?? Number.NaN };
      },
      encode: ({ count, perMs }) => `${count}/${[...rateMs].find(([, ms]) => ms === perMs)?.[0] ?? `${perMs}ms`}`,
    },
  );
}

const unitBytes: ReadonlyMap<string, number> = new Map([
  ['B', 1],
  ['kB', 1_000],
  ['MB', 1_000_000],
  ['GB', 1_000_000_000],
  ['KiB', 1_024],
  ['MiB', 1_048_576],
  ['GiB', 1_073_741_824],
]);
const sizePattern = /^(\d+)(B|kB|MB|GB|KiB|MiB|GiB)$/;

/** A size such as `64KiB` or `1MB`; bytes inside the program. `min` and `max` are bytes. */
export function Size(bounds: { readonly min: number; readonly max: number }) {
  const hint = 'expected a size with its unit, such as "64KiB"';
  return z.codec(z.string({ error: hint }).regex(sizePattern, { error: hint }), z.number(), {
    decode(text, context) {
      const [, count, unit = ''] = sizePattern.exec(text) ?? [];
      const bytes = Number(count) * (unitBytes.get(unit) ?? Number.NaN);
      if (bytes >= bounds.min && bytes <= bounds.max) return bytes;
      const range = `from ${bounds.min}B to ${bounds.max}B`;
      context.issues.push({ code: 'custom', input: text, message: `must be ${range}` });
      return z.NEVER;
    },
    encode: (bytes) => `${bytes}B`,
  });
}

function parseBound(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new RangeError(`"${text}" is not a duration`);
  return ms;
}
