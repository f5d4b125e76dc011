import type { HistoryReader } from '#history/reader.ts';
import type { TimeSpan } from '#history/span.ts';

/** The spans that a page about a target offers; all of them end now. */
export const spans = ['10m', '1h', '6h', '24h', '7d', '30d', '90d', '1y', '2y'] as const;
export type SpanName = (typeof spans)[number];

const hour = 3_600_000;
const day = 24 * hour;
const lengths: Readonly<Record<SpanName, number>> = {
  '10m': 600_000,
  '1h': hour,
  '6h': 6 * hour,
  '24h': day,
  '7d': 7 * day,
  '30d': 30 * day,
  '90d': 90 * day,
  '1y': 365 * day,
  '2y': 730 * day,
};

/** What a chart shows: a name for a span that ends now, or one that was chosen. */
export interface ChartSpan extends TimeSpan {
  readonly name: SpanName | null;
}

export const namedSpan = (name: SpanName, now: number): ChartSpan => ({ name, from: now - lengths[name], to: now });

/** The default span: six hours; less if less is known, more if rounds are far apart. */
export async function usualSpan(
  reader: Pick<HistoryReader, 'figures'>,
  { name, everyMs }: { readonly name: string; readonly everyMs: number | null },
  now: number,
): Promise<SpanName> {
  if (everyMs === null || everyMs > 6 * hour) return '90d';
  if (everyMs > hour / 2) return '7d';
  const isKnown = async (from: number, to: number) => {
    const { answers } = await reader.figures({ of: { target: name }, from: now - from, to: now - to });
    return answers.up + answers.down + answers.unknown > 0;
  };
  if (await isKnown(lengths['6h'], lengths['1h'])) return '6h';
  return (await isKnown(lengths['1h'], lengths['10m'])) ? '1h' : '10m';
}

const [shortestMs, longestMs] = [600_000, 730 * day];

/** A chosen span within the limits: from ten minutes to two years, and not after now. */
export function chosenSpan({ from, to }: TimeSpan, now: number): ChartSpan {
  const end = Math.min(to, now);
  const length = Math.min(Math.max(end - from, shortestMs), longestMs);
  return { name: null, from: end - length, to: end };
}
