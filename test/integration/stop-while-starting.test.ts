import { expect, test } from 'vitest';
import { createProgram } from '../support/program.ts';

const manyTargets = 3_000;

test('a stop that comes while the pages read the history of many targets logs no error', async () => {
  await using program = await createProgram();
  const targets = Array.from({ length: manyTargets }, (_, index) => `  t${index}: { check: tcp, host: "127.0.0.1:1" }`);
  const running = await program.start(`
data: ${program.database}
http: { listen: "127.0.0.1:0" }
defaults: { every: 1h }
targets:
${targets.join('\n')}
`);
  expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(running.log.filter(({ level }) => level === 'error')).toEqual([]);
});
