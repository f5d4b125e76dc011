import { expect, test } from 'vitest';
import { createProgram } from '../../support/program.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const many = 4_000;

test('a program that ends while it looks up the past of thousands of targets for a page logs no error', async () => {
  await using program = await createProgram();
  const nothingThere = await closedPort();
  const targets = Array.from(
    { length: many },
    (_, index) => `  t${index}: { check: tcp, host: "127.0.0.1:${nothingThere}", cron: "0 0 1 1 *" }`,
  );
  const { url, log, end } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { notify: [], rules: [] }
targets:
${targets.join('\n')}
`);
  // The page does not wait for the look-up.
  expect(await (await fetch(`${url}/?rows=all`)).text()).toContain('t3999');
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(log.map(({ msg }) => msg)).not.toContain('cannot read history');
  expect(log.at(-1)).toMatchObject({ msg: 'stopped' });
});
