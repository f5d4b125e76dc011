import { readFileSync, writeFileSync } from 'node:fs';
import { withOptionTables } from './check-options.ts';

// `npm run docs` writes the options of the check types into docs/checks.md.
const path = new URL('../../docs/checks.md', import.meta.url);
writeFileSync(path, withOptionTables(readFileSync(path, 'utf8')));
