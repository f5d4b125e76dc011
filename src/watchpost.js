#!/usr/bin/env node
// Plain JavaScript that old Node versions can read, so that they can say what is wrong instead of failing to parse.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(
    `watchpost needs Node 24.12 or later and this is ${process.versions.node}; ` +
      'in a checkout "npm ci" brings the right one for "npm start" and "npx watchpost"\n',
  );
  process.exitCode = 1;
} else {
  await import('./main.ts');
}
