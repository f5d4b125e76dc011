import { expect, test } from 'vitest';
import { eventually, createProgram } from '../../support/program.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

const quiet = 4_000;

test('the first line of the overview is of now while its rows are shared with who asked before', async () => {
  await using program = await createProgram();
  await using shop = await tcpServer((socket) => socket.destroy());
  const nothingThere = await closedPort();
  const others = Array.from(
    { length: quiet },
    (_, index) => `  t${index}: { check: tcp, host: "127.0.0.1:${nothingThere}", cron: "0 0 1 1 *" }`,
  );
  const { url } = await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
defaults: { notify: [], rules: [] }
targets:
  shop: { check: tcp, host: "127.0.0.1:${shop.port}", every: 1s }
${others.join('\n')}
`);
  const textOf = async (path: string) => (await fetch(`${url}${path}`)).text();
  // All rows take long to draw, so they are shared for ten times as long.
  const headOf = async () => /<h1>.*?<\/h1>/s.exec(await textOf('/?rows=all'))?.[0] ?? '';
  const stateOf = async () => /"status":"(\w+)"/.exec(await textOf('/api/v1/targets/shop'))?.[1];
  await eventually(60_000, async () => expect(await stateOf()).toBe('up'));
  await headOf();
  await shop[Symbol.asyncDispose]();
  await eventually(60_000, async () => {
    await headOf();
    expect(await stateOf()).toBe('down');
  });
  expect(await headOf()).toContain('shop has been down');
});
