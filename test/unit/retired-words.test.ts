import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;

// docs/development.md has the terms that took their place. A page or a comment names the part of the system that it means.
const retired = [
  'sightings?',
  'somebody',
  'nobody',
  'whoever',
  'is told',
  'are told',
  'be had',
  'lets? go',
  'forgives?',
  'victims?',
  'settlements?',
  'holdbacks?',
  'tellings?',
];
const words = new RegExp(`\\b(?:${retired.join('|')})\\b`, 'i');

// The key of results on the wire stays as version 2 of the protocol has it.
const allowed: Readonly<Record<string, RegExp>> = {
  'src/protocol/watching.ts': /sightings/,
  'src/transport/nats/batcher.ts': /sightings/,
  'src/transport/nats/batches.ts': /sightings/,
  'src/transport/nats/batch-head.ts': /sightings/,
};

test.each(['src/**/*.ts', 'README.md', 'docs/**/*.md', '.github/**/*.md'])(
  'no retired word stands in %s',
  (pattern) => {
    const files = globSync(pattern, { cwd: root });
    expect(files.length).toBeGreaterThan(0);
    const found = files.flatMap((file) =>
      readFileSync(`${root}${file}`, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          words.test(line) && allowed[file]?.test(line) !== true ? [`${file}:${index + 1}: ${line.trim()}`] : [],
        ),
    );
    expect(found).toEqual([]);
  },
);
