import { z } from 'zod';

const Query = z
  .object({
    target: z.string().max(500).default(''),
    event: z.enum(['', 'state', 'incident']).default(''),
  })
  .catch({ target: '', event: '' });

/** Which of the API's events a client wants; empty for all. */
export type EventFilter = z.output<typeof Query>;

/** The filter in the query of an address, as the view of a stream; the same for filters that are alike. */
export function eventViewOf(query: unknown): string {
  const { event, target } = Query.parse(query);
  return `${event} ${target}`;
}

/** The filter that a view names. */
export function eventFilterOf(view: string): EventFilter {
  const [, event = '', target = ''] = /^(\S*) (.*)$/s.exec(view) ?? [];
  return Query.parse({ event, target });
}
