import { expect, test } from 'vitest';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { serveHttp } from '../support/http-servers.ts';
import { startSink } from '../support/http-sink.ts';
import { eventually } from '../support/program.ts';
import { tempFolder } from '../support/store.ts';

interface Posted {
  readonly text: string;
}

test('a target that was given another host while the program did not run is not slow by answers of the old one', async () => {
  using folder = tempFolder();
  await using chat = await startSink();
  const titles = () => chat.received.map(({ body }) => (JSON.parse(body) as Posted).text);
  await using slow = await serveHttp((_, response) => void setTimeout(() => response.end('late'), 400));
  await using fast = await serveHttp((_, response) => response.end('at once'));
  const start = async (port: number) => {
    const config = {
      data: 'watchpost.db',
      http: { listen: '127.0.0.1:0' },
      defaults: { every: '1s' },
      targets: { shop: { check: 'http', host: `http://127.0.0.1:${port}/`, rules: ['slow'] } },
      rules: { slow: { latency: { above: '300ms', statistic: 'max', window: '1h' }, rounds: 1, recover: 1 } },
      notify: { chat: { slack: { url: `${chat.origin}/hook` }, group_wait: '0s', group_interval: '0s' } },
    };
    return startDaemonIn(folder.path, JSON.stringify(config), { renewal: renewalTimes });
  };
  {
    await using _daemon = await start(slow.port);
    await eventually(20_000, () => expect(titles()).toEqual([expect.stringMatching(/^\[SLOW\] shop: /)]));
  }
  await using _daemon = await start(fast.port);
  await eventually(20_000, () => expect(titles().slice(1)).toEqual([expect.stringMatching(/^\[RESOLVED\] shop: /)]));
}, 60_000);
