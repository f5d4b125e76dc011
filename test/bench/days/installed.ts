import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systems } from './systems/index.ts';
import type { System } from './systems/system.ts';

/** A system that can be run here. */
export interface Installed {
  readonly system: System;
  readonly versions: string;
}

/** Finds the systems whose names contain one of these texts, all without, and prints each with its version or why it is left out. */
export function findInstalled(names: readonly string[] = ['']): readonly Installed[] {
  const found: Installed[] = [];
  const own = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  for (const system of systems.filter(({ name }) => names.some((part) => name.includes(part)))) {
    const missing = system.packages.filter((name) => versionOf(name) === null);
    const packages = system.packages.map((name) => `${name} ${versionOf(name) ?? ''}`).join(', ');
    const versions = packages === '' ? `watchpost ${own.version}` : packages;
    if (missing.length === 0) found.push({ system, versions });
    console.log(`- ${system.name}: ${missing.length > 0 ? `not run, not installed: ${missing.join(', ')}` : versions}`);
  }
  return found;
}

/** The version of a Debian package, or null if it is not installed. */
function versionOf(name: string): string | null {
  try {
    return execFileSync('dpkg-query', ['-W', '-f', '${Version}', name], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return null;
  }
}
