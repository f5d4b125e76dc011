import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const pages = ['README.md', 'CHANGELOG.md', ...globSync(['docs/**/*.md', '.github/**/*.md'], { cwd: root })];
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const packageJson = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'devDependencies' | 'scripts',
  Record<string, string>
>;

test('every file and page that the documentation names is there', () => {
  const missing = pages.flatMap((page) => {
    const text = read(page);
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => join(dirname(page), path ?? ''));
    const paths = [...text.matchAll(/`((?:src|test|config|docs|migrations|\.ci)\/[\w./-]+\.\w+)`/g)].map(
      ([, path]) => path ?? '',
    );
    return [...links, ...paths].filter((path) => !existsSync(join(root, path))).map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual([]);
});

test('every room and file that docs/development.md names within src is there', () => {
  const rooms = globSync('*/', { cwd: join(root, 'src') }).concat(globSync('*/', { cwd: join(root, 'src/monitor') }));
  const inRooms = new RegExp(`\`((?:${rooms.map((room) => room.replace(/\/$/, '')).join('|')})/[\\w./-]*)\``, 'g');
  const named = [...read('docs/development.md').matchAll(inRooms)].map(([, path]) => path ?? '');
  expect(named.length).toBeGreaterThan(30);
  const isThere = (path: string) =>
    ['src', 'src/monitor', '.'].some((base) => ['', '.ts'].some((end) => existsSync(join(root, base, path + end))));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test('docs/testing.md names every file of test/support, and no other', () => {
  const named = [...read('docs/testing.md').matchAll(/`([\w-]+\.(?:ts|js|py)|nodes\/)`/g)].map(
    ([, file]) => file ?? '',
  );
  const files = globSync(['*.*', 'nodes/'], { cwd: join(root, 'test/support') }).map((path) =>
    path.replace(/^nodes$/, 'nodes/'),
  );
  expect(new Set(named)).toEqual(new Set(files));
});

test('docs/decisions/README.md lists every decision by its title, in order', () => {
  const files = globSync('docs/decisions/[0-9]*.md', { cwd: root }).toSorted();
  const titles = files.map((file, index) => {
    const [heading = ''] = read(file).split('\n');
    expect(heading).toMatch(new RegExp(`^# ${index + 1}\\. \\S`));
    const name = file.replace('docs/decisions/', '');
    return `| [${name.slice(0, 4)}](${name}) | ${heading.replace(/^# \d+\. /, '')} |`;
  });
  expect(read('docs/decisions/README.md').match(/^\| \[.*$/gm)).toEqual(titles);
});

test('every npm script that the documentation names is there', () => {
  const named = pages.flatMap((page) => [...read(page).matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name ?? ''));
  expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
});

test('docs/dependencies.md gives a reason for every package and for no other', () => {
  const listed = [...read('docs/dependencies.md').matchAll(/^\| (\S[^|]*?) \|/gm)].flatMap(([, names]) =>
    (names ?? '').split(', '),
  );
  const used = Object.keys({ ...packageJson.dependencies, ...packageJson.devDependencies }).map((name) =>
    name.startsWith('@types/') ? '@types/*' : name,
  );
  expect(new Set(listed.filter((name) => name !== 'package' && name !== '---'))).toEqual(new Set(used));
});

test('the changelog is in the form that it says', () => {
  const headings = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings[0]).toBe('Unreleased');
  for (const heading of headings.slice(1)) expect(heading).toMatch(/^\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}$/);
});
