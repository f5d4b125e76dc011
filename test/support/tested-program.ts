import { join } from 'node:path';
import { bundleProgram, sharedHouse } from './bundled-program.ts';

const root = new URL('../../', import.meta.url).pathname;

/**
 * The folder of what tests start as a process: in CI the bundle, because it ships and starts with less than half of the work;
 * without CI the sources, so that nothing is to be built before a test of a change.
 */
export const testedHouse = process.env[sharedHouse] ?? root;

export const testedProgram = join(testedHouse, 'src/watchpost.js');

/** Before the tests of a run: makes that bundle, once for all projects, with a folder for what Node compiles. */
export function setup(): (() => void) | undefined {
  if (process.env['CI'] === undefined || process.env[sharedHouse] !== undefined) return undefined;
  const bundle = bundleProgram();
  process.env[sharedHouse] = bundle.house;
  // For all processes of the run, and gone with it: in the cache of the user each run would leave thousands of files.
  process.env['NODE_COMPILE_CACHE'] = join(bundle.house, 'compiled');
  return () => bundle[Symbol.dispose]();
}
