import { createRequire } from 'node:module';
import type * as Tldts from 'tldts';

const load = createRequire(import.meta.url);

/**
 * The registrable domain of a name: "example.co.uk" of "www.example.co.uk"; null if it has none. `private` also takes suffixes of
 * companies, such as github.io.
 */
export function registeredDomain(name: string, of: 'public' | 'private'): string | null {
  // Loaded with the first name, because the list of suffixes takes more than a megabyte. Sound because the types are those of this
  // very package.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { getDomain } = load('tldts') as typeof Tldts;
  return getDomain(name, { allowPrivateDomains: of === 'private' });
}
