import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ReloadableDaemon, startReloadableDaemonIn } from '../support/daemon.ts';
import { jsonOf, says } from '../support/http-services.ts';
import { type Received, type Sink, startSink } from '../support/http-sink.ts';
import { eventually } from '../support/program.ts';
import { tempFolder } from '../support/store.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

// What becomes of alerts that a service keeps open if its entry in the configuration changes meanwhile.

const keys = { first: '0123456789abcdef0123456789abcdef', second: 'fedcba9876543210fedcba9876543210' };

const eventOf = (received: Received) => {
  const { routing_key: key, event_action: action, dedup_key: alert } = jsonOf(received);
  return { key: String(key), action: String(action), alert: String(alert) };
};

interface PagedOutage {
  readonly daemon: ReloadableDaemon;
  readonly sink: Sink;
  readonly port: number;
  /** A configuration whose entry has this name and file. */
  readonly configOf: (notify: string, file: string) => string;
}

/** A target that is down, of which `duty` was notified by PagerDuty. */
async function pagedOutage(stack: AsyncDisposableStack): Promise<PagedOutage> {
  const { path: folder } = stack.use(tempFolder());
  for (const [name, key] of Object.entries(keys)) await writeFile(join(folder, name), `${key}\n`, { mode: 0o600 });
  await writeFile(join(folder, 'copy'), `${keys.first}\n`, { mode: 0o600 });
  const sink = stack.use(await startSink(() => says(202, { status: 'success' })));
  const port = await closedPort();
  const configOf = (notify: string, file: string) =>
    JSON.stringify({
      data: 'watchpost.db',
      http: { listen: '127.0.0.1:0' },
      defaults: { every: '1s' },
      rules: { down: { failing: 'majority', rounds: 1, recover: 1 } },
      targets: { shop: { check: 'tcp', host: `127.0.0.1:${port}` } },
      notify: { [notify]: { pagerduty: { routing_key_file: file, url: sink.origin } } },
    });
  const daemon = stack.use(await startReloadableDaemonIn(folder, configOf('duty', 'first')));
  await eventually(20_000, () => expect(sink.received.map(eventOf)).toMatchObject([{ action: 'trigger' }]));
  return { daemon, sink, port, configOf };
}

test.concurrent('an acknowledged alert ends although its recipient has another name', async () => {
  await using stack = new AsyncDisposableStack();
  const { daemon, sink, port, configOf } = await pagedOutage(stack);
  const [begun] = sink.received.map(eventOf);
  const acknowledged = await fetch(`http://127.0.0.1:${daemon.web.addr().port}/-/incidents/acknowledge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ incident: begun?.alert, why: 'on it' }),
  });
  expect(acknowledged.status).toBe(200);
  await daemon.reconfigure(configOf('night', 'copy'));
  expect(daemon.lines.map(({ msg }) => msg)).not.toContainEqual(expect.stringContaining('cannot end open alerts'));
  stack.use(await tcpServer((socket) => socket.end(), '127.0.0.1', port));
  await eventually(20_000, () => expect(sink.received.map(eventOf)).toEqual([begun, { ...begun, action: 'resolve' }]));
}, 80_000);

test.concurrent.each([
  { name: 'has another key', notify: 'duty', reason: 'its recipient leads elsewhere' },
  { name: 'is gone', notify: 'night', reason: 'its recipient is not configured any more' },
])(
  'a reload says which alerts stay open because their recipient $name',
  async ({ notify, reason }) => {
    await using stack = new AsyncDisposableStack();
    const { daemon, sink, configOf } = await pagedOutage(stack);
    await daemon.reconfigure(configOf(notify, 'second'));
    const said = daemon.lines.filter(({ msg }) => msg.startsWith('cannot end open alerts'));
    expect(said).toEqual([
      expect.objectContaining({
        msg: `cannot end open alerts: ${reason}`,
        channel: 'pagerduty',
        recipient: 'duty',
        incidents: [eventOf(sink.received[0]!).alert],
      }),
    ]);
    await daemon.reconfigure(configOf(notify, 'second').replace('"every":"1s"', '"every":"2s"'));
    expect(daemon.lines.filter(({ msg }) => msg.startsWith('cannot end open alerts'))).toHaveLength(1);
  },
  80_000,
);
