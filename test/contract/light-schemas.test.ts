import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

// `kernel/light-schemas.ts` changes zod for a whole process, so that these have processes of their own.

const root = new URL('../../', import.meta.url).pathname;
const light = ['--import=./src/kernel/light-schemas.ts'];

async function run(code: string, args: readonly string[]): Promise<unknown> {
  const all = [...args, '--no-warnings', '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, all, { cwd: root, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

const made = `
import { z } from 'zod';
const [first, second] = [z.string().min(1), z.string().max(2).optional()];
const shape = z.strictObject({ port: z.int().min(1).max(9).describe('A port.').default(2), name: second });
console.log(JSON.stringify({
  areTraitsShared: first._zod.traits === second.unwrap()._zod.traits,
  haveParents: [first, shape.describe(''), shape.shape.port.unwrap()].map((schema) => schema._zod.parent !== undefined),
  isOf: [first instanceof z.ZodString, first instanceof z.ZodNumber, second instanceof z.ZodOptional],
  reads: shape.parse({}),
  areOthersAsBefore: Object.assign({}, { parent: 1 }).parent === 1 && !Object.hasOwn(Object.prototype, 'parent'),
  refuses: shape.safeParse({ port: 10, name: 'abc', other: 1 }).error.issues,
  description: shape.shape.port.unwrap().description,
}));`;

test('schemas of a class share their traits, keep none that they were made of, and read and refuse as before', async () => {
  const usual = await run(made, []);
  expect(usual).toMatchObject({
    areOthersAsBefore: true,
    areTraitsShared: false,
    haveParents: [true, true, true],
    isOf: [true, false, true],
  });
  expect(await run(made, light)).toEqual({
    ...(usual as object),
    areTraitsShared: true,
    haveParents: [false, false, false],
  });
});

const documents = `
import { webhookJsonSchema } from '#channels/index.ts';
import { checks } from '#checks/index.ts';
import { configJsonSchema } from '#config/shape/schema.ts';
import { openApiDocument } from '#service/http/openapi.ts';
import { historyDocument } from '#web/history-document.ts';
console.log(JSON.stringify([
  configJsonSchema(),
  webhookJsonSchema(),
  openApiDocument({ compatible: true, access: { origins: [] } }),
  openApiDocument({ compatible: false, access: { origins: ['https://app.example.com'] } }),
  historyDocument(),
  checks.map(({ Spec }) => Object.entries(Spec.shape).map(([name, option]) => [name, option.description])),
]));`;

test('every document that is made of schemas is the same with light ones', async () => {
  const [usual, ofLight] = await Promise.all([run(documents, []), run(documents, light)]);
  expect(ofLight).toEqual(usual);
});
