import { expect, test } from 'vitest';
import { type ReleaseFacts, releaseProblems } from '../../.ci/release-problems.ts';

const good: ReleaseFacts = {
  version: '1.2.0',
  lockedVersion: '1.2.0',
  changelog:
    '# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-01-01\n\n### Added\n\n- A thing.\n\n## 1.1.0 - 2025-01-01\n',
  migrations: ['0000_first.sql', '0001_more.sql'],
  fixtures: ['1.sql', '2.sql'],
  tags: ['v1.1.0'],
  uncommitted: [],
};

test('what has its version, changelog and fixtures can be released', () => {
  expect(releaseProblems(good)).toEqual([]);
});

test.each<{ name: string; facts: Partial<ReleaseFacts>; says: RegExp }>([
  { name: 'a change that is not committed', facts: { uncommitted: [' M src/main.ts'] }, says: /not committed: .*main/ },
  {
    name: 'a lock file of another version',
    facts: { lockedVersion: '1.1.0' },
    says: /package-lock\.json says 1\.1\.0/,
  },
  {
    name: 'a version that the changelog does not know',
    facts: { version: '1.3.0', lockedVersion: '1.3.0' },
    says: /newest version is 1\.2\.0/,
  },
  {
    name: 'lines that belong to no version',
    facts: { changelog: good.changelog.replace('Unreleased\n', 'Unreleased\n\n- New.\n') },
    says: /Unreleased/,
  },
  { name: 'a version that is out', facts: { tags: ['v1.2.0'] }, says: /released already/ },
  {
    name: 'a schema without a fixture',
    facts: { fixtures: ['1.sql'] },
    says: /schemas\/2\.sql is missing: npm run fixture/,
  },
])('$name is in the way', ({ facts, says }) => {
  expect(releaseProblems({ ...good, ...facts })).toEqual([expect.stringMatching(says)]);
});
