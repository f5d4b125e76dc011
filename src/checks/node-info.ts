import { z } from 'zod';

const Word = z.string().max(100);

/** Who runs checks and from where. Unknown places and addresses are empty strings (interface 2.3 and 2.4). */
export const NodeInfo = z.strictObject({
  /** The key in configuration, metrics and mails: lowercase country code and number, such as `de1`. */
  name: z.string().regex(/^[a-z]{2}\d{1,4}$/, { error: 'expected two letters and a number, such as "de1"' }),
  countryCode: z.string().regex(/^(?:[a-z]{2})?$/),
  country: Word,
  city: Word,
  asn: z.string().regex(/^(?:AS\d{1,10})?$/, { error: 'expected an AS number such as "AS64500"' }),
  ip: Word,
});
export type NodeInfo = z.infer<typeof NodeInfo>;

/** The name that Watchpost itself votes under: for what calls it, and where no node is known. */
export const ownNodeName = 'zz0';

/** The name of a node for people. */
export function shownNode(name: string): string {
  return name === ownNodeName ? 'Watchpost' : name;
}

/** Which nodes a run asks for. */
export type NodeSelection =
  | { readonly kind: 'all' }
  | { readonly kind: 'count'; readonly count: number; readonly avoid: readonly string[] }
  | { readonly kind: 'named'; readonly names: readonly string[] };
