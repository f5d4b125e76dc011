import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

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
    level: 30,
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
