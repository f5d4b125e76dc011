import { z } from 'zod';
import type { SpanName } from './chart-span.ts';
import { targetHref } from './links.ts';

/** How a chart shows its span: part of the page's address. */
export interface ChartView {
  /** The only node that is shown, by its name for people; null for all. */
  readonly node: string | null;
  readonly scale: 'log' | null;
  /** Bands of percentiles instead of a line for each node. */
  readonly view: 'smoke' | null;
}

const Query = z.object({
  node: z.string().min(1).max(100).nullable().default(null).catch(null),
  scale: z.literal('log').nullable().default(null).catch(null),
  view: z.literal('smoke').nullable().default(null).catch(null),
});

export const chartViewOf = (query: unknown): ChartView => Query.parse(query);

/** The same target and view with another span. */
export function spanHref(target: string, span: SpanName, view: ChartView): string {
  const query = new URLSearchParams({ span });
  for (const key of ['node', 'scale', 'view'] as const) if (view[key] !== null) query.set(key, view[key]);
  return `${targetHref(target)}?${query.toString()}`;
}
