import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startReloadableDaemonIn } from '../support/daemon.ts';
import { jsonOf } from '../support/http-services.ts';
import { type Received, startSink } from '../support/http-sink.ts';
import { eventually } from '../support/program.ts';
import { tempFolder } from '../support/store.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

// What waits to be delivered while the configuration changes, as it comes from the whole daemon.

const dueTimesOf = (received: readonly Received[]) =>
  received.flatMap(({ body }) =>
    body
      .trimEnd()
      .split('\n')
      .map((line) => Date.parse((JSON.parse(line) as { readonly due_at: string }).due_at)),
  );
const subjectOf = (received: Received) => String(jsonOf(received)['subject']);

/** A folder with a secret for webhooks. */
async function ownFolder(stack: AsyncDisposableStack): Promise<string> {
  const { path } = stack.use(tempFolder());
  await writeFile(join(path, 'secret'), 'whsec-0123456789abcdef\n', { mode: 0o600 });
  return path;
}

/** A configuration with one target that is down from the beginning, which is a warning. */
async function downTarget() {
  return {
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    defaults: { every: '1s' },
    rules: { soft: { failing: 'majority', severity: 'warning', rounds: 1 } },
    targets: { shop: { check: 'tcp', host: `127.0.0.1:${await closedPort()}`, rules: ['soft'] } },
  };
}

test.concurrent('a recipient with another address gets at once what the server before put off for a day', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await ownFolder(stack);
  const busy = stack.use(await startSink(() => ({ status: 503, headers: { 'retry-after': '86400' } })));
  const other = stack.use(await startSink());
  const base = await downTarget();
  const config = (url: string) =>
    JSON.stringify({
      ...base,
      notify: { ops: { webhook: { url, secret_file: 'secret' }, group_wait: '0s', group_interval: '0s' } },
    });
  const daemon = stack.use(await startReloadableDaemonIn(folder, config(busy.origin)));
  await eventually(20_000, () => expect(busy.received).toHaveLength(1));
  await daemon.reconfigure(config(other.origin));
  await eventually(20_000, () => expect(other.received.map(subjectOf)).toEqual([expect.stringContaining('shop')]));
  expect(busy.received).toHaveLength(1);
}, 60_000);

test.concurrent('a server that asked for a day is left alone, although the channel is accepted elsewhere again', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await ownFolder(stack);
  const busy = stack.use(await startSink(() => ({ status: 503, headers: { 'retry-after': '86400' } })));
  const back = stack.use(await startSink());
  back.answer = () => ({ status: back.received.length === 1 ? 503 : 200 });
  const { targets, ...base } = await downTarget();
  const to = (url: string) => ({ webhook: { url, secret_file: 'secret' }, group_wait: '0s', group_interval: '0s' });
  const notify = { busy: to(busy.origin), back: to(back.origin) };
  const daemon = stack.use(await startReloadableDaemonIn(folder, JSON.stringify({ ...base, notify, targets })));
  await eventually(30_000, () => expect(daemon.lines.map(({ msg }) => msg)).toContain('messages are accepted again'));
  expect(busy.received).toHaveLength(1);

  // News for both.
  const port = Number(targets.shop.host.split(':')[1]);
  stack.use(await tcpServer((socket) => socket.end(), '127.0.0.1', port));
  await eventually(20_000, () => expect(subjectOf(back.received.at(-1)!)).toContain('RESOLVED'));
  expect(busy.received).toHaveLength(1);
}, 80_000);

test.concurrent('results that wait for one address are sent to the next', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await ownFolder(stack);
  const away = stack.use(await startSink(() => ({ status: 503, headers: { 'retry-after': '600' } })));
  const other = stack.use(await startSink());
  const base = await downTarget();
  const config = (url: string) =>
    JSON.stringify({ ...base, export: { results: { webhook: { url, secret_file: 'secret', every: '1s' } } } });
  const daemon = stack.use(await startReloadableDaemonIn(folder, config(away.origin)));
  // The first batch has failed, and further lines wait behind it.
  await eventually(20_000, () => expect(away.received).toHaveLength(1));
  const stored = async () =>
    (await daemon.history.rounds('shop', { limit: 100 })).map(({ dueAt }) => dueAt).toReversed();
  await eventually(20_000, async () => expect((await stored()).length).toBeGreaterThan(3));
  await daemon.reconfigure(config(other.origin));
  await eventually(20_000, () => expect(dueTimesOf(other.received).length).toBeGreaterThan(6));
  const due = dueTimesOf(other.received);
  // A round is sent before it is stored.
  await eventually(20_000, async () => expect((await stored()).slice(0, due.length)).toEqual(due));
  expect(away.received).toHaveLength(1);
}, 80_000);
