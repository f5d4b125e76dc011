import { expect, test } from 'vitest';
import {
  allTypeNames,
  checkOf,
  checkTypeNames,
  interfaceTypeNames,
  nodeTypeNames,
  probedTypeNames,
} from '#checks/index.ts';
import { Target } from '#config/shape/target.ts';
import { Report } from '#protocol/nodes.ts';

const internal = allTypeNames.filter((type) => checkOf(type).isInternal);

test('evidence is a type of the program alone', () => {
  expect(internal).toEqual(['evidence']);
});

test.each(internal)('%s is in no list that people choose from', (type) => {
  for (const names of [checkTypeNames, probedTypeNames, interfaceTypeNames]) expect(names).not.toContain(type);
  expect(checkOf(type).row).toBeNull();
  expect(Object.keys(checkOf(type).apiOptions.shape)).toEqual([]);
  const written = { [type]: 'a.example', of: { type: 'ping', host: 'a.example' }, notify: [] };
  expect(Target().safeParse(written).success).toBe(false);
});

test.each(internal)('%s is run by nodes, and hubs read that they can', (type) => {
  expect(nodeTypeNames).toContain(type);
  const capabilities = { [type]: { able: true } };
  expect(Report.shape.capabilities.parse(capabilities)).toEqual(capabilities);
});
