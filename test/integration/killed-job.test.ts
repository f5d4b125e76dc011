import { expect, test } from 'vitest';
import { sha256 } from '#kernel/hash.ts';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { startSink } from '../support/http-sink.ts';
import { eventually } from '../support/program.ts';
import { tempFolder } from '../support/store.ts';

const secret = 'Zk3vTq9wPb7xLm2cJr5nYd8s';

interface Posted {
  readonly text: string;
}

test('a job that is killed in each of its runs, and reports nothing but starts, is notified as down', async () => {
  using folder = tempFolder();
  await using chat = await startSink();
  const titles = () => chat.received.map(({ body }) => (JSON.parse(body) as Posted).text);
  const config = {
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    targets: { backup: { check: 'heartbeat', every: '2s', grace: '1s', secret_hash: sha256(secret) } },
    notify: { chat: { slack: { url: `${chat.origin}/hook` }, group_wait: '0s', group_interval: '0s' } },
  };
  await using daemon = await startDaemonIn(folder.path, JSON.stringify(config), { renewal: renewalTimes });
  const call = async (what: string) => {
    const { status } = await fetch(`http://127.0.0.1:${daemon.web.addr().port}/beat/${secret}${what}`);
    expect(status).toBe(200);
  };
  await eventually(20_000, async () => {
    await call('/start');
    expect(titles()).toEqual([
      expect.stringMatching(/^\[DOWN\] backup: began at .* and has not ended; the next run began/),
    ]);
  });
  // A further start is no sign that it is well.
  await call('/start');
  await call('');
  await eventually(20_000, () =>
    expect(titles().slice(1)).toEqual([expect.stringMatching(/^\[RESOLVED\] backup: up again after /)]),
  );
}, 60_000);
