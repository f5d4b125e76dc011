#!/usr/bin/env node
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
  await import('./main.ts');
}
