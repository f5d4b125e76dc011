import { z } from 'zod';
import { describeIssue, wordIssue } from '#kernel/schema-words.ts';

const Query = z.object({
  target: z.string().max(500).default(''),
  event: z.enum(['', 'state', 'incident'], { error: 'expected "state" or "incident"' }).default(''),
});

/** Which of the API's events a client wants; empty for all. */
export type EventFilter = z.output<typeof Query>;

/** The filter in the query of an address, as the view of a stream, the same for filters that are alike; or what is wrong with it. */
export function eventViewOf(query: unknown): { readonly view: string } | { readonly problem: string } {
  const read = Query.safeParse(query, { error: wordIssue });
  if (read.success) return { view: `${read.data.event} ${read.data.target}` };
  const [issue] = read.error.issues;
  return { problem: issue === undefined ? 'the query is not well-formed' : describeIssue(issue, query) };
}

/** The filter that a view names. */
export function eventFilterOf(view: string): EventFilter {
  const [, event = '', target = ''] = /^(\S*) (.*)$/s.exec(view) ?? [];
  return Query.parse({ event, target });
}
