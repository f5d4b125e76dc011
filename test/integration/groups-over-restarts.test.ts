import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { jsonOf } from '../support/http-services.ts';
import { type Received, startSink } from '../support/http-sink.ts';
import { eventually } from '../support/program.ts';
import { tempFolder } from '../support/store.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

const kindOf = (received: Received) => String(jsonOf(received)['kind']);

test('after a restart, a message that told beginning and end holds up no beginning', async () => {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(tempFolder());
  await writeFile(join(folder, 'secret'), 'whsec-0123456789abcdef\n', { mode: 0o600 });
  const sink = stack.use(await startSink(() => ({ status: 503 })));
  const [port, other] = [await closedPort(), await closedPort()];
  const config = (targets: Readonly<Record<string, number>>) =>
    JSON.stringify({
      data: 'watchpost.db',
      http: { listen: '127.0.0.1:0' },
      defaults: { every: '1s' },
      rules: { soft: { failing: 'majority', severity: 'warning', rounds: 1, recover: 1 } },
      targets: Object.fromEntries(
        Object.entries(targets).map(([name, at]) => [name, { check: 'tcp', host: `127.0.0.1:${at}`, rules: ['soft'] }]),
      ),
      notify: {
        ops: { webhook: { url: sink.origin, secret_file: 'secret' }, group_wait: '0s', group_interval: '1h' },
      },
    });
  const daemon = await startDaemonIn(folder, config({ shop: port }), { renewal: renewalTimes });
  try {
    await eventually(20_000, () => expect(sink.received.map(kindOf)).toEqual(['opened']));
    sink.answer = () => ({ status: 200 });
    stack.use(await tcpServer((socket) => socket.end(), '127.0.0.1', port));
    await eventually(20_000, () => expect(sink.received.map(kindOf)).toEqual(['opened', 'late']));
  } finally {
    await daemon.stop();
  }
  stack.use(await startDaemonIn(folder, config({ shop: port, blog: other }), { renewal: renewalTimes }));
  await eventually(20_000, () => expect(sink.received.map(kindOf)).toEqual(['opened', 'late', 'opened']));
}, 80_000);
