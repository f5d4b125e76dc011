import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;

/** The program as the image has it: the bundle, with only those packages beside it that are not part of it. */
export interface BundledProgram extends Disposable {
  readonly house: string;
  /** The bundle itself. */
  readonly folder: string;
}

export function bundleProgram(): BundledProgram {
  const house = mkdtempSync(join(tmpdir(), 'watchpost-bundle-'));
  const folder = join(house, 'dist');
  execFileSync(process.execPath, ['--no-warnings', '.ci/bundle.ts', folder], { cwd: root, stdio: 'pipe' });
  mkdirSync(join(house, 'src'));
  copyFileSync(join(root, 'src/watchpost.js'), join(house, 'src/watchpost.js'));
  copyFileSync(join(root, 'package.json'), join(house, 'package.json'));
  cpSync(join(root, 'migrations'), join(house, 'migrations'), { recursive: true });
  for (const name of readFileSync(join(folder, 'packages.txt'), 'utf8').trimEnd().split('\n')) {
    const place = join(house, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }
  return { house, folder, [Symbol.dispose]: () => rmSync(house, { recursive: true, force: true }) };
}
