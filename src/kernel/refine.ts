import type { z } from 'zod';

/** Has a refinement look also at a map in which something else is wrong. */
export const always = {
  when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null,
};

/** Refuses the second of two keys of which only one may be set. */
export function refuseBoth<Entry extends object>(
  entry: Entry,
  one: keyof Entry & string,
  other: keyof Entry & string,
  context: z.RefinementCtx,
): void {
  if (entry[one] === undefined || entry[other] === undefined) return;
  context.addIssue({ code: 'custom', path: [other], message: `cannot be set together with ${one}` });
}
