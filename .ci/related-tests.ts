import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** By file, the files that it imports; paths from the root, of everything in `src` and of unit tests. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Reads which files import which. */
export function readImports(root: string): Imports {
  const files = globSync(['src/**/*.ts', 'test/unit/**/*.ts', 'test/support/**/*.ts', '.ci/*.ts'], { cwd: root });
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(join(root, file), 'utf8'))]));
}

function importsOf(file: string, text: string): readonly string[] {
  const specifiers = text.matchAll(
    /(?:from|import|import\()\s*'([#.][^']+\.ts)'|new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g,
  );
  return [...specifiers].map(([, imported, located]) => {
    const specifier = imported ?? located ?? '';
    return specifier.startsWith('#') ? `src/${specifier.slice(1)}` : relative('.', join(dirname(file), specifier));
  });
}

/**
 * The unit tests that say most about these files, the nearest first: those that changed themselves, then those that import a changed
 * file, then those that import what imports one, and so on until there are `most`. Of one distance it takes all or, beyond `most`, none
 * but the first by name.
 */
export function relatedTests(changed: readonly string[], imports: Imports, most: number): readonly string[] {
  const importers = new Map<string, string[]>();
  for (const [file, imported] of imports) {
    for (const one of imported) importers.set(one, [...(importers.get(one) ?? []), file]);
  }
  const seen = new Set<string>();
  const tests: string[] = [];
  let nearest = changed.filter((file) => imports.has(file)).toSorted();
  while (nearest.length > 0 && tests.length < most) {
    nearest.forEach((file) => seen.add(file));
    tests.push(...nearest.filter((file) => file.startsWith('test/unit/') && file.endsWith('.test.ts')));
    const next = nearest.flatMap((file) => importers.get(file) ?? []).filter((file) => !seen.has(file));
    nearest = [...new Set(next)].toSorted();
  }
  return tests.slice(0, most);
}
