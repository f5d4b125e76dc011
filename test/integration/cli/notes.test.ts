import { expect, test } from 'vitest';
import { command, commandHere } from '../../support/command.ts';
import { createProgram } from '../../support/program.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const soon = { timeout: 20_000, interval: 200 };

test('a note that is posted stands on the page, its JSON and its feed, also after a restart, until it is removed', async () => {
  await using program = await createProgram();
  const port = await closedPort();
  const config = `
data: watchpost.db
http: { listen: "127.0.0.1:${port}" }
targets: { shop: { check: tcp, host: "127.0.0.1:${port}" } }
maintenance: [{ targets: [shop], from: "2001-01-01T00:00Z", to: "2999-01-01T00:00Z" }]
pages: { status: { targets: { shop: Shop } } }
`;
  const first = await program.start(config);
  const path = `${program.folder}/watchpost.yaml`;
  const run = async (...args: readonly string[]) => commandHere(['status', ...args, '--config', path]);
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  // A page that was just drawn is served for a moment.
  const expectSoon = (path: string) => expect.poll(async () => read(path), soon);

  const posted = await command(['status', 'post', 'We <b>move</b>.', '--until', '2999-12-24T22:00Z', '--config', path]);
  expect(posted).toMatchObject({ code: 0, err: '' });
  const [id = ''] = posted.out.split(' ');
  expect(posted.out).toBe(`${id}  stands on the page status until 2999-12-24T22:00:00.000Z\n`);
  expect(await run('post', 'x', '--page', 'other')).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no status page other; there are status'),
  });
  expect(await run('post', 'x', '--until', 'tomorrow')).toMatchObject({
    err: expect.stringContaining(
      "'--until <time>' argument 'tomorrow' is invalid. Expected a time such as 2026-12-24T22:00",
    ),
  });
  expect(await read('/status')).toContain('We &lt;b&gt;move&lt;/b&gt;.');
  expect(await read('/status.atom')).toContain('<content>We &lt;b&gt;move&lt;/b&gt;.</content>');
  expect(JSON.parse(await read('/status.json'))).toMatchObject({
    notes: [{ id, words: 'We <b>move</b>.', until: '2999-12-24T22:00:00.000Z' }],
    maintenance: [{ from: '2001-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z', services: ['Shop'] }],
  });
  const update = await run('post', 'Found it.', '--stage', 'identified', '--targets', 'shop', '--thread', id);
  expect(update).toMatchObject({ code: 0, err: '' });
  await expectSoon('/status').toMatch(
    /<p class="soft wrap">Shop<\/p>.*<strong>Identified<\/strong> .*Found it\..*We &lt;b&gt;move/,
  );
  // The archive of the month in which a thread began has it too.
  expect(await read('/status/status/history')).toMatch(
    /<p class="soft wrap">Shop<\/p>.*<strong>Identified<\/strong> .*Found it\..*We &lt;b&gt;move/,
  );
  expect(await read('/status/status/history?month=2025-01')).not.toContain('Found it.');
  expect(await read('/status?lang=fr')).toContain('<strong>Cause identifiée</strong>');
  await expectSoon('/status.atom?lang=de').toContain('Ursache gefunden: Found it.');
  await expect
    .poll(async (): Promise<unknown> => JSON.parse(await read('/status.json')), soon)
    .toMatchObject({
      notes: [
        { thread: id, stage: 'identified', services: ['Shop'] },
        { thread: null, stage: null },
      ],
    });
  expect(await run('post', 'x', '--stage', 'done')).toMatchObject({
    code: 2,
    err: expect.stringContaining('monitoring'),
  });
  expect(await run('post', 'x', '--targets', 'mail')).toMatchObject({
    code: 2,
    err: expect.stringContaining('the page status does not show mail; it shows shop'),
  });
  const [updated = ''] = update.out.split(' ');
  expect(await run('remove', updated)).toMatchObject({ code: 0 });
  expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });

  await program.start(config);
  expect(await read('/status')).toContain('We &lt;b&gt;move&lt;/b&gt;.');
  expect((await run('notes')).out).toContain(id);
  expect((await run()).out).toContain('shop');
  expect(await run('remove', id)).toMatchObject({ code: 0, out: `${id} is taken down from the page status\n` });
  await expectSoon('/status').not.toContain('We &lt;b&gt;move');
  expect((await run('notes')).out).toBe('no notes\n');
});
