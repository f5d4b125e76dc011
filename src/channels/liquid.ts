import { Liquid } from 'liquidjs';

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
export function createEngine(escaping: { readonly outputEscape?: 'escape' } = {}): Liquid {
  const engine = new Liquid({ ...common, ...escaping });
  engine.registerFilter('pad', (text: unknown, width: unknown) => String(text).padEnd(Number(width)));
  return engine;
}
