import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

// In a process of its own, where garbage can be collected.
const code = `
import { setImmediate } from 'node:timers/promises';
import { remade } from '#kernel/remade.ts';
let made = 0;
const ask = remade(() => ({ number: (made += 1) }));
const seen = [made];
let held = ask();
seen.push(held.number);
await setImmediate();
gc();
seen.push(ask().number);
held = null;
await setImmediate();
gc();
seen.push(ask().number);
console.log(JSON.stringify(seen));`;

test('something is made when it is used, and again only after nothing has held it any more', async () => {
  const args = ['--no-warnings', '--expose-gc', '--input-type=module', '--eval', code];
  const cwd = new URL('../../../', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(JSON.parse(stdout)).toEqual([0, 1, 1, 2]);
});
