/** What a release is judged by. */
export interface ReleaseFacts {
  readonly version: string;
  readonly lockedVersion: string;
  readonly changelog: string;
  readonly migrations: readonly string[];
  /** Names of the files under test/fixtures/schemas. */
  readonly fixtures: readonly string[];
  /** Tags of git. */
  readonly tags: readonly string[];
  /** What git status tells. */
  readonly uncommitted: readonly string[];
}

/** Why this cannot be released, each with the way out. */
export function releaseProblems(facts: ReleaseFacts): readonly string[] {
  const { version, lockedVersion, changelog, migrations, fixtures, tags, uncommitted } = facts;
  const [unreleased = '', ...released] = changelog.split(/^## /m).slice(1);
  const newest = /^\S+/.exec(released[0] ?? '')?.[0] ?? 'none';
  const missing = migrations.map((_, index) => `${index + 1}.sql`).filter((name) => !fixtures.includes(name));
  return [
    ...(uncommitted.length > 0 ? [`not committed: ${uncommitted.join(', ')}`] : []),
    ...(lockedVersion === version
      ? []
      : [`package-lock.json says ${lockedVersion}, package.json ${version}: npm install`]),
    ...(newest === version ? [] : [`CHANGELOG.md: the newest version is ${newest}, package.json says ${version}`]),
    ...(/^[-*] /m.test(unreleased)
      ? ['CHANGELOG.md: there are lines under Unreleased; move them under the version']
      : []),
    ...(tags.includes(`v${version}`) ? [`v${version} is released already: npm version`] : []),
    ...missing.map((name) => `test/fixtures/schemas/${name} is missing: npm run fixture`),
  ];
}
