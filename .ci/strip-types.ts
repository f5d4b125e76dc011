import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';

// Writes src/ as plain JavaScript to dist/: for the image, where it saves memory, and for the package, because Node strips no
// types under node_modules. Lines and columns stay where they are. In a checkout nothing uses dist/.

const root = join(import.meta.dirname, '..');
const from = join(root, 'src');
const to = join(root, 'dist');

rmSync(to, { recursive: true, force: true });
for (const file of globSync('**/*', { cwd: from })) {
  const source = join(from, file);
  if (!statSync(source).isFile() || file === 'watchpost.js') continue;
  mkdirSync(dirname(join(to, file)), { recursive: true });
  if (file.endsWith('.ts')) writeFileSync(join(to, scriptOf(file)), stripped(file, readFileSync(source, 'utf8')));
  else copyFileSync(source, join(to, file));
}

// What is imported, or named for a thread: `from 'x.ts'`, `import('x.ts')`, `new URL('x.ts', import.meta.url)`.
function stripped(file: string, text: string): string {
  return stripTypeScriptTypes(text).replaceAll(
    /(\bfrom\s+|\bimport\s*\(?\s*|\bnew URL\(\s*)'([#.][^']+\.ts)'/g,
    (_, before: string, specifier: string) => `${before}'${scriptOf(relativeTo(file, specifier))}'`,
  );
}

function relativeTo(file: string, specifier: string): string {
  if (!specifier.startsWith('#')) return specifier;
  const path = relative(dirname(file), specifier.slice(1));
  return path.startsWith('.') ? path : `./${path}`;
}

function scriptOf(path: string): string {
  return path.replace(/\.ts$/, '.js');
}
