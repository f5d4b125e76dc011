import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';

// `node test/bench/main.ts <name> [options]` runs one benchmark; each is a folder with a main.ts that does its work when imported.
const names = globSync('*/main.ts', { cwd: import.meta.dirname })
  .map(dirname)
  .sort();
const name = process.argv[2];

if (name !== undefined && names.includes(name)) {
  await import(join(import.meta.dirname, name, 'main.ts'));
} else {
  console.log(`usage: node test/bench/main.ts <name>\n\n${names.join('\n')}`);
  process.exitCode = name === undefined ? 0 : 2;
}
