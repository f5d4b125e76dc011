import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { sha256 } from '#kernel/hash.ts';
import { startAlertmanager } from '../support/alertmanager.ts';
import { mortal } from '../support/children.ts';
import { startSink } from '../support/http-sink.ts';
import { createProgram, eventually } from '../support/program.ts';
import { needsProgram } from '../support/programs.ts';
import { testedProgram } from '../support/tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;
const secret = 'Zk3vTq9wPb7xLm2cJr5nYd8s';

interface Posted {
  readonly text: string;
  readonly thread_ts?: string;
}

/** A Slack that gives each message a name, as chat.postMessage does. */
async function startSlack() {
  const sink = await startSink(() => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ok: true, ts: `${sink.received.length}.0001` }),
  }));
  return {
    api: `${sink.origin}/api`,
    posted: () => sink.received.map(({ body }) => JSON.parse(body) as Posted),
    [Symbol.asyncDispose]: async () => sink[Symbol.asyncDispose](),
  };
}

interface Paged {
  readonly alerts: readonly { readonly labels: Readonly<Record<string, string>> }[];
}

test('a job that is late, killed and well again: each told in Slack and in Alertmanager, over a restart', async (context) => {
  needsProgram(context, 'prometheus-alertmanager', 'prometheus-alertmanager');
  await using slack = await startSlack();
  await using pager = await startSink();
  await using real = await startAlertmanager(pager.origin);
  await using program = await createProgram();
  await writeFile(join(program.folder, 'slack-token'), 'xoxb-1-abc\n');
  const beats = join(program.folder, 'beats');
  await mkdir(beats);
  const config = (every: string, more = '') => `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
targets: { backup: { check: heartbeat, host: db1, every: ${every}, grace: 1s${more}, secret_hash: ${sha256(secret)} } }
notify:
  chat: { slack: { token_file: slack-token, channel: C1, api_url: "${slack.api}" }, group_wait: 0s, group_interval: 0s }
  routes: { alertmanager: { urls: ["${real.url}"] } }
`;
  const titles = () => slack.posted().map((one) => one.text);
  const held = async () => (await real.alerts()).map(({ annotations }) => annotations['summary']);
  const paged = () => pager.received.map(({ body }) => JSON.parse(body).status as string);

  const first = await program.start(config('1s'));
  const late = expect.stringMatching(/^backup is down: late: no ping yet \(every 1s\)$/);
  await eventually(60_000, async () => {
    expect(titles()).toEqual([expect.stringMatching(/^\[DOWN\] backup: late: no ping yet \(every 1s\)$/)]);
    expect(await held()).toEqual([late]);
    expect(paged()).toEqual(['firing']);
  });
  expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });

  // From here on the next run is an hour off: it is not late any more, and what follows is told of the job alone.
  const { url, end } = await program.start(config('1h', ', max_runtime: 5s'));
  await eventually(60_000, async () => {
    expect(titles().slice(1)).toEqual([expect.stringMatching(/^\[RESOLVED\] backup: up again after /)]);
    expect(await held()).toEqual([]);
    expect(paged()).toEqual(['firing', 'resolved']);
  });
  await writeFile(join(beats, 'backup'), `${url}/beat/${secret}\n`);
  const beat = (script: string) => {
    const args = [testedProgram, 'beat', '--beats', beats, 'backup', '--', 'sh', '-c', script];
    const child = mortal(spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] }));
    return { child, ended: once(child, 'exit') };
  };
  const killed = beat('echo $$; exec sleep 600');
  const [pid] = (await once(killed.child.stdout, 'data')) as [Buffer];
  await eventually(60_000, () =>
    expect(titles().slice(2)).toEqual([expect.stringMatching(/^\[DOWN\] backup: has been running for more than 5s/)]),
  );
  await eventually(60_000, () => expect(paged()).toEqual(['firing', 'resolved', 'firing']));
  process.kill(Number(String(pid)), 'SIGKILL');
  expect(await killed.ended).toEqual([137, null]);
  await eventually(60_000, async () => {
    expect(titles().slice(3)).toEqual(['[DOWN] backup: now ended with exit code 137: ended by SIGKILL']);
    const killedSummary = 'backup is down: ended with exit code 137: ended by SIGKILL';
    expect(await held()).toEqual([killedSummary, killedSummary]);
    expect(paged()).toEqual(['firing', 'resolved', 'firing', 'firing']);
  });
  const told = (JSON.parse(pager.received.at(-1)?.body ?? '{}') as Paged).alerts;
  expect(told.map(({ labels }) => `${labels['target']} ${labels['update'] ?? 'first'}`).toSorted()).toEqual([
    'backup 1',
    'backup first',
  ]);

  const read = async (path: string) => (await fetch(`${url}${path}`)).text();
  const [{ id }] = JSON.parse(await read('/api/v1/incidents?open=true')).incidents;
  expect(await read(`/incidents/${encodeURIComponent(id)}`)).toContain('another cause: <bdi>ended with exit code 137');

  const well = beat('echo copied');
  expect(await text(well.child.stdout)).toBe('copied\n');
  expect(await well.ended).toEqual([0, null]);
  await eventually(60_000, async () => {
    expect(titles().slice(4)).toEqual([expect.stringMatching(/^\[RESOLVED\] backup: up again after /)]);
    expect(await held()).toEqual([]);
    expect(paged()).toEqual(['firing', 'resolved', 'firing', 'firing', 'resolved']);
  });
  expect(slack.posted().map(({ thread_ts: thread }) => thread)).toEqual([
    undefined,
    '1.0001',
    undefined,
    '3.0001',
    '3.0001',
  ]);
  expect(await end('SIGTERM')).toEqual({ code: 0, signal: null });
});
