import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;

/** Says where the bundle is that was made once for a whole run, if there is one. */
export const sharedHouse = 'WATCHPOST_TESTED_HOUSE';

/** The program as the image has it: the bundle, with only those packages beside it that are not part of it. */
export interface BundledProgram extends Disposable {
  readonly house: string;
  /** The bundle itself. */
  readonly folder: string;
}

export function bundleProgram(): BundledProgram {
  const house = mkdtempSync(join(tmpdir(), 'watchpost-bundle-'));
  chmodSync(house, 0o755); // Some tests run it as another user.
  const folder = join(house, 'dist');
  const shared = process.env[sharedHouse];
  if (shared === undefined)
    execFileSync(process.execPath, ['--no-warnings', '.ci/bundle.ts', folder], { cwd: root, stdio: 'pipe' });
  else cpSync(join(shared, 'dist'), folder, { recursive: true });
  mkdirSync(join(house, 'src'));
  for (const file of ['src/watchpost.js', 'package.json', 'CHANGELOG.md'])
    copyFileSync(join(root, file), join(house, file));
  for (const part of ['migrations', 'docs']) cpSync(join(root, part), join(house, part), { recursive: true });
  for (const name of readFileSync(join(folder, 'packages.txt'), 'utf8').trimEnd().split('\n')) {
    const place = join(house, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }
  return { house, folder, [Symbol.dispose]: () => rmSync(house, { recursive: true, force: true }) };
}
