import { z } from 'zod';
import { WatchpostError } from '#kernel/errors.ts';
import type english from './en.json';

/** The name of a text of status pages: a key of `en.json`. */
export type TextKey = keyof (typeof english)['texts'];

/** What stands in place of `{name}` in a text; whole numbers select the plural by `count`. */
export type TextValues = Readonly<Record<string, string | number>>;

/** The language of a visitor: texts, and times, numbers and lists as they are written in it. */
export interface VisitorLanguage {
  /** BCP 47, such as `de`. */
  readonly code: string;
  /** For Intl, such as `de-DE`. */
  readonly locale: string;
  /** Its name in itself. */
  readonly name: string;
  say(key: TextKey, values?: TextValues): string;
  /** The text in pieces: what stands between the values, and each value of `values` in its place. */
  pieces<Value>(key: TextKey, values: Readonly<Record<string, Value>>): readonly (string | Value)[];
  /** A moment in UTC to the minute, with the zone. */
  time(at: number): string;
  day(at: number): string;
  /** `2026-11` in words. */
  month(month: string): string;
  /** The two largest units of a duration in milliseconds. */
  duration(ms: number): string;
  /** A share with three digits at most, never rounded up to all. */
  percent(share: number): string;
  list(names: readonly string[]): string;
}

// A text, or one for each plural category of the language (Unicode TR 35).
const Text = z.union([
  z.string().min(1),
  z.partialRecord(z.enum(['zero', 'one', 'two', 'few', 'many', 'other']), z.string().min(1)),
]);

const LanguageFile = z.strictObject({
  name: z.string().min(1),
  locale: z
    .string()
    .regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, { error: 'expected a locale, such as "de-DE" (BCP 47)' }),
  texts: z.record(z.string(), Text),
});
export type LanguageFile = z.output<typeof LanguageFile>;

/** Parses a file of a language; `file` names it in errors. */
export function parseLanguage(file: string, value: unknown): LanguageFile {
  const parsed = LanguageFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new WatchpostError(
    'config_invalid',
    `${file}: ${parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}`,
  );
}

const placeholder = /\{(\w+)\}/;
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** A language of a parsed file; texts that it lacks are those of `fallback`. */
export function createLanguage(code: string, file: LanguageFile, fallback: LanguageFile = file): VisitorLanguage {
  const { name, locale } = file;
  const plural = onceAsked(() => new Intl.PluralRules(locale));
  const number = onceAsked(() => new Intl.NumberFormat(locale));
  const share = onceAsked(() => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 3 }));
  const dateFormat = (options: Intl.DateTimeFormatOptions) =>
    onceAsked(() => new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }));
  const time = dateFormat({ dateStyle: 'medium', timeStyle: 'short' });
  const day = dateFormat({ dateStyle: 'medium' });
  const month = dateFormat({ year: 'numeric', month: 'long' });
  const lists = onceAsked(() => new Intl.ListFormat(locale));

  function textOf(key: TextKey, count: unknown): string {
    const text = file.texts[key] ?? fallback.texts[key] ?? key;
    if (typeof text === 'string') return text;
    return (typeof count === 'number' ? text[plural().select(count)] : undefined) ?? text.other ?? key;
  }

  function pieces<Value>(key: TextKey, values: Readonly<Record<string, Value>>): readonly (string | Value)[] {
    // Every second piece is the name of a value.
    return textOf(key, values['count'])
      .split(placeholder)
      .map((piece, index) => (index % 2 === 0 ? piece : (values[piece] ?? '')));
  }

  const unit = (count: number, of: 'day' | 'hour' | 'minute' | 'second') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: of, unitDisplay: 'long' }).format(count);

  return {
    code,
    locale,
    name,
    pieces,
    say: (key, values = {}) =>
      pieces(key, values)
        .map((piece) => (typeof piece === 'number' ? number().format(piece) : piece))
        .join(''),
    time: (at) => `${time().format(at)} UTC`,
    day: (at) => day().format(at),
    month: (text) => month().format(Date.parse(`${text}-01`)),
    duration(ms) {
      const seconds = Math.round(ms / 1_000);
      const units = [
        ['day', Math.floor((seconds * 1_000) / dayMs)],
        ['hour', Math.floor(((seconds * 1_000) % dayMs) / hourMs)],
        ['minute', Math.floor(((seconds * 1_000) % hourMs) / minuteMs)],
        ['second', seconds % 60],
      ] as const;
      const first = units.findIndex(([, count]) => count > 0);
      if (first === -1) return unit(0, 'second');
      const shown = units.slice(first, first + 2).filter(([, count]) => count > 0);
      return new Intl.ListFormat(locale, { type: 'unit', style: 'long' }).format(
        shown.map(([of, count]) => unit(count, of)),
      );
    },
    percent: (one) =>
      share().format(one >= 1 ? 1 : Math.floor(one * (one > 0.99 ? 1e5 : 1e4)) / (one > 0.99 ? 1e5 : 1e4)),
    list: (names) => lists().format(names),
  };
}

// The formats of all languages take 2 MB, and most programs show few of them.
function onceAsked<Format>(make: () => Format): () => Format {
  let made: Format | null = null;
  return () => (made ??= make());
}
