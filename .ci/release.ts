import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseProblems } from './release-problems.ts';

// Whether what is here can be released: version, changelog, fixtures, and as root the image. Changes nothing.

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

const version = String(JSON.parse(read('package.json')).version);
const problems = releaseProblems({
  version,
  lockedVersion: String(JSON.parse(read('package-lock.json')).version),
  changelog: read('CHANGELOG.md'),
  migrations: globSync('migrations/*.sql', { cwd: root }),
  fixtures: globSync('*.sql', { cwd: join(root, 'test/fixtures/schemas') }),
  tags: git('tag', '--list'),
  uncommitted: git('status', '--porcelain'),
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
if (process.getuid?.() === 0) {
  const { status } = spawnSync('bash', ['.ci/image'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
} else {
  console.log('image: not built: it takes root');
}
console.log(`${version} can be released: git tag v${version}, npm publish`);
