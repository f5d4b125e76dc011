import { createRequire } from 'node:module';
import type * as Library from 'liquidjs';

// Only messages need it, and most of the time there are none.
const load = createRequire(import.meta.url);

// A template is data, not code: it reaches no file, no network and no prototype, and it ends.
const limits = { parseLimit: 200_000, renderLimit: 2_000, memoryLimit: 50_000_000 };
const common = {
  strictFilters: true,
  strictVariables: true,
  lenientIf: true,
  ownPropertyOnly: true,
  templates: {},
  ...limits,
};

/** What renders the templates of operators. The filter `pad` fills a text with blanks. */
export function createEngine(escaping: { readonly outputEscape?: 'escape' } = {}): Library.Liquid {
  const { Liquid } = load('liquidjs') as typeof Library; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the package has these types
  const engine = new Liquid({ ...common, ...escaping });
  engine.registerFilter('pad', (text: unknown, width: unknown) => String(text).padEnd(Number(width)));
  return engine;
}
