import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../src/', import.meta.url).pathname;
const declaration = /^(?:export )?(?:abstract )?(?:interface|class|type) (\w+)/gm;
const declared = globSync('**/*.ts', { cwd: root }).flatMap((file) =>
  [...readFileSync(`${root}${file}`, 'utf8').matchAll(declaration)].map(([, name = '']) => ({ file, name })),
);

// Words in -ed and -ing that are nouns.
const nouns = ['Ping', 'Finding', 'Setting', 'Reading', 'Embed'];
const irregular = [
  'Begun',
  'Done',
  'Drawn',
  'Found',
  'Given',
  'Heard',
  'Held',
  'Kept',
  'Known',
  'Left',
  'Lost',
  'Made',
];
const others = ['Paid', 'Put', 'Read', 'Said', 'Seen', 'Sent', 'Shown', 'Split', 'Spoken', 'Taken', 'Told', 'Written'];

/** Whether a name is nothing but a participle, with or without one word in front of it that is no noun. */
function isParticiple(name: string): boolean {
  if (nouns.includes(name) || !/^(?:Not|Un)?[A-Z]?[a-z]+$/.test(name)) return false;
  return /(?:ed|ing)$/.test(name) || [...irregular, ...others].includes(name);
}

test('the name of a type is a noun, never a bare participle', () => {
  expect(declared.length).toBeGreaterThan(800);
  expect(declared.filter(({ name }) => isParticiple(name))).toEqual([]);
});

test('the name of a type has one meaning', () => {
  // The contract of check types names two shapes in each folder; a port repeats the type that its adapter has.
  const contract = ['Spec', 'Detail'];
  const ports = ['NodeAbsence', 'PresentNode', 'RunOutcome', 'WatchHandle'];
  const files = Map.groupBy(declared, ({ name }) => name);
  const repeated = [...files]
    .filter(([name, places]) => new Set(places.map(({ file }) => file)).size > 1 && !contract.includes(name))
    .map(([name]) => name);
  expect(repeated.sort()).toEqual(ports);
});
