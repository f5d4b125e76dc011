import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { checkOf, CheckSpec, interfaceTypeNames } from '#checks/index.ts';
import { createSpecTexts } from '#store/spec-text.ts';

const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.tuple(fc.domain(), fc.integer({ min: 1, max: 65_535 })).map(([name, port]) => `${name}:${port}`),
  fc.tuple(fc.constantFrom('http', 'https', 'smtp'), fc.domain()).map(([scheme, name]) => `${scheme}://${name}/a"b?c`),
);
const written = fc.record({
  type: fc.constantFrom(...interfaceTypeNames),
  host,
  timeout: fc.constantFrom(undefined, '700ms', '2s'),
  isOverApi: fc.boolean(),
});

test('specs are written as the schema would, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(written, { minLength: 2, maxLength: 10 }), (all) => {
      const textOf = createSpecTexts();
      for (const { type, host: name, timeout, isOverApi } of all) {
        const over = isOverApi ? checkOf(type).overApi : {};
        const spec = CheckSpec.parse({ type, host: name, ...(timeout === undefined ? {} : { timeout }), ...over });
        expect(JSON.parse(textOf(spec))).toEqual(JSON.parse(JSON.stringify(z.encode(CheckSpec, spec))));
      }
    }),
  );
});

test('specs of which one says what the other does not are told apart', () => {
  const textOf = createSpecTexts();
  const plain = CheckSpec.parse({ type: 'tcp', host: 'example.com:22' });
  const expecting = CheckSpec.parse({ type: 'tcp', host: 'example.com:22', expect: 'SSH' });
  for (const spec of [plain, expecting, plain, expecting]) {
    expect(CheckSpec.parse(JSON.parse(textOf(spec)))).toEqual(CheckSpec.parse(z.encode(CheckSpec, spec)));
  }
});
