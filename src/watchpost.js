#!/usr/bin/env node
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

// Plain JavaScript that old Node versions can read, so that they can say what is wrong instead of failing to parse.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `watchpost needs Node 24.12 or later and this is ${process.versions.node}; ` +
      'in a checkout "npm ci" brings the right one for "npm start" and "npx watchpost"\n',
  );
  process.exitCode = 1;
} else {
  // What a check leaves behind is dead at once: a megabyte for new objects does, where V8 would take up to a hundred for each thread.
  setFlagsFromString('--semi-space-growth-factor=1');
  // That is for this thread, which grows later; others begin with what holds a second of checks.
  setFlagsFromString('--min-semi-space-size=4');
  cacheCompiledCode(process.env);
  // A checkout runs its sources; what was packed or built has them as JavaScript.
  await import(existsSync(new URL('./main.ts', import.meta.url)) ? './main.ts' : '../dist/main.js');
}

/**
 * Lets Node keep what it compiled, which spares the next start half of its time. The folder is one that only this user writes,
 * never the common one for temporary files; where it cannot be written there is no cache, and that is all.
 */
function cacheCompiledCode(env) {
  if (env.NODE_COMPILE_CACHE !== undefined || env.NODE_DISABLE_COMPILE_CACHE !== undefined) return;
  const caches = env.XDG_CACHE_HOME || (env.HOME ? join(env.HOME, '.cache') : '');
  const folder = env.CACHE_DIRECTORY || (caches === '' ? '' : join(caches, 'watchpost'));
  if (folder === '') return;
  env.NODE_COMPILE_CACHE = folder; // for threads too
  module.enableCompileCache(folder);
}
