import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkOf } from '#checks/index.ts';
import { explain, validate } from '#config/read/explain.ts';
import { targetOf } from '#config/shape/target.ts';
import { readYaml } from '#config/read/yaml.ts';

// Check types bring schemas of their own, whose words nobody has chosen: these are the words they get.
const Options = z.strictObject({
  status: z.union([z.int().min(100).max(599), z.array(z.int().min(100)), z.strictObject({ not: z.int() })]).optional(),
  count: z.int().min(1).max(20).multipleOf(2).optional(),
  mode: z.enum(['fast', 'thorough']).optional(),
  name: z.string().min(1).max(3).optional(),
  code: z
    .string()
    .regex(/^[a-f]+$/)
    .optional(),
  deep: z.strictObject({ url: z.url() }).optional(),
  flag: z.boolean().optional(),
  list: z.array(z.string()).max(1).optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

test.each([
  ['status: 42', '1:9: status: must be at least 100 (found 42)'],
  ['status: [200, 99]', '1:15: status[1]: must be at least 100 (found 99)'],
  ['status: { not: x }', '1:16: status.not: expected a number (found "x")'],
  ['status: up', '1:9: status: expected a number, or a list, such as [a, b], or a map of keys and values (found "up")'],
  ['count: 3', '1:8: count: must be a multiple of 2 (found 3)'],
  ['count: 30', '1:8: count: must be at most 20 (found 30)'],
  ['mode: fsat', '1:7: mode: expected "fast" or "thorough" (found "fsat"; did you mean "fast"?)'],
  ['name: ""', '1:7: name: must not be empty (found "")'],
  ['name: long', '1:7: name: must have at most 3 characters (found "long")'],
  ['code: xyz', '1:7: code: expected text of the form /^[a-f]+$/ (found "xyz")'],
  ['deep: { url: here }', '1:14: deep.url: expected an URL, such as "https://example.com" (found "here")'],
  ['flag: yes', '1:7: flag: expected true or false (found "yes")'],
  ['list: [a, b]', '1:7: list: must have at most 1 entry'],
  ['headers: { Authorization: 5 }', '1:27: headers.Authorization: expected text: put it in quotes'],
])('%s is explained', (text, line) => {
  const { root } = readYaml({ file: 'x', text }, 0, {});
  const lines = validate(Options, root.value)
    .issues.flatMap((issue) => explain(issue, root))
    .map(({ place, path, message }) => {
      const name = path.map((part, index) =>
        typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${String(part)}`,
      );
      return `${place.line}:${place.column}: ${name.join('')}: ${message}`;
    });
  expect(lines).toEqual([line]);
});

test('a check type may judge several of its options together', () => {
  const Spec = z.strictObject({ type: z.literal('tcp'), a: z.int() }).refine(({ a }) => a > 0);
  const Form = targetOf([{ ...checkOf('tcp'), Spec }]);
  expect(Form.safeParse({ check: 'tcp', a: 1, every: '1m' }).success).toBe(true);
  expect(Form.safeParse({ check: 'tcp', a: 1, b: 1 }).success).toBe(false);
});
