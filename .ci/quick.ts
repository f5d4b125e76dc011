import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readImports, relatedTests } from './related-tests.ts';

// What can be said in seconds of what changed since a commit: format, lint without types, types, and the nearest unit tests.
//   npm run quick [-- COMMIT]
// `npm run verify` says the rest.

const root = join(import.meta.dirname, '..');
const since = process.argv[2] ?? 'HEAD';
const mostTests = 12;

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '' && existsSync(join(root, line)));

const changed = [
  ...git('diff', '--name-only', '--relative', since),
  ...git('ls-files', '--others', '--exclude-standard'),
];
const code = changed.filter((file) => /^(?:src|test|migrations|\.ci)\/.*\.(?:ts|js)$/.test(file));

// The rules that need types take as long as all others together.
function lintConfig(): string {
  const cache = join(root, 'node_modules/.cache/quick');
  mkdirSync(cache, { recursive: true });
  const text = readFileSync(join(root, '.oxlintrc.json'), 'utf8')
    .replace('"typeAware": true', '"typeAware": false')
    .replaceAll(/"((?:src|test|migrations|\.ci)\/)/g, '"**/$1');
  const path = join(cache, 'oxlintrc.json');
  writeFileSync(path, text);
  return path;
}

interface Finished {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly printed: string;
}

function run(name: string, command: string, args: readonly string[]): Promise<Finished> {
  const began = performance.now();
  const child = spawn(join(root, 'node_modules/.bin', command), args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => {
      resolve({ name, passed: exit === 0, seconds: (performance.now() - began) / 1_000, printed });
    });
  });
}

const tests = relatedTests(changed, readImports(root), mostTests);
const checks = [
  run('types', 'tsc', []),
  ...(code.some((file) => file.startsWith('src/web/browser/'))
    ? [run('types of scripts', 'tsc', ['--project', 'src/web/browser'])]
    : []),
  ...(code.length === 0
    ? []
    : [run('format', 'oxfmt', ['--check', ...code]), run('lint', 'oxlint', ['--config', lintConfig(), ...code])]),
  ...(tests.length === 0
    ? []
    : [run('tests', 'vitest', ['run', '--config', 'test/vitest.config.ts', '--project', 'unit', ...tests])]),
];
const finished = await Promise.all(checks);
for (const { passed, printed } of finished) if (!passed) process.stdout.write(printed);
for (const { name, passed, seconds } of finished) {
  process.stdout.write(`quick: ${name} ${passed ? 'passed' : 'failed'} in ${seconds.toFixed(1)} s\n`);
}
process.stdout.write(
  `quick: ${changed.length} changed files, ${tests.length} test files; "npm run verify" runs the rest\n`,
);
process.exitCode = finished.every(({ passed }) => passed) ? 0 : 1;
