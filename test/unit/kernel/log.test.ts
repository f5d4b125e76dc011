import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { mortal } from '../../support/children.ts';

const module = new URL('../../../src/kernel/log.ts', import.meta.url).href;

/** Logs in a process of its own that exits right after, and gives what it wrote. */
function logged(options: string, statement: string): { out: string; err: string } {
  const script = `import { createLog } from '${module}'; const log = createLog(${options}); ${statement}; process.exit(0);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  return { out: stdout, err: stderr };
}

test('a line for machines is JSON with level, time, fields and the sentence, written before the process exits', () => {
  const { out, err } = logged(
    `{ level: 'info', pretty: false, fd: 1 }`,
    `log.info({ target: 'shop' }, 'round skipped')`,
  );
  expect(err).toBe('');
  expect(JSON.parse(out)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    target: 'shop',
    msg: 'round skipped',
  });
});

test('a line for people names the sentence and the fields, and goes where it is told', () => {
  const { out, err } = logged(
    `{ level: 'info', pretty: true, fd: 2 }`,
    `log.warn({ target: 'shop' }, 'round skipped')`,
  );
  expect(out).toBe('');
  expect(err).toContain('WARN');
  expect(err).toContain('round skipped');
  expect(err).toContain('shop');
});

test('a line below the level is not written', () => {
  expect(logged(`{ level: 'warn', pretty: false, fd: 1 }`, `log.info('quiet')`)).toEqual({ out: '', err: '' });
});

// Logs four mebibytes, says on the other stream that it goes on, and ends.
const flood = `import { createLog } from '${module}';
const log = createLog({ level: 'info', pretty: false, fd: 1 });
for (let index = 0; index < 4_096; index += 1) log.info({ index, filler: 'x'.repeat(1_000) }, 'line');
process.stderr.write('goes on');
process.stdin.once('data', () => { log.warn('the end'); process.stdin.destroy(); });`;

test('a log that nobody reads holds up nothing: what is beyond a bound is dropped, and the number is told to whoever reads on', async () => {
  const child = mortal(
    spawn(process.execPath, ['--input-type=module', '--eval', flood], { stdio: ['pipe', 'pipe', 'pipe'] }),
  );
  await once(child.stderr, 'data');
  const output = text(child.stdout);
  await new Promise((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.includes('dropped log lines')) resolve(null);
    });
  });
  child.stdin.end('x');
  const lines = (await output)
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
  const told = lines.find(({ msg }) => String(msg).includes('dropped'));
  expect(told).toMatchObject({ level: 'warn' });
  const written = lines.filter(({ msg }) => msg === 'line').length;
  expect(written + Number(told?.['lines'])).toBe(4_096);
  expect(lines.at(-1)).toMatchObject({ msg: 'the end' });
});

test('a reader that goes away holds up nothing', async () => {
  const child = mortal(
    spawn(process.execPath, ['--input-type=module', '--eval', flood], { stdio: ['pipe', 'pipe', 'pipe'] }),
  );
  child.stdout.destroy();
  await once(child.stderr, 'data');
  child.stdin.end('x');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
