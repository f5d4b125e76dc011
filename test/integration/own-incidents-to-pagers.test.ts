import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { type HttpService, httpServices, jsonOf, says } from '../support/http-services.ts';
import { type Received, startSink } from '../support/http-sink.ts';
import { eventually } from '../support/program.ts';
import { tempFolder } from '../support/store.ts';
import { closedPort, tcpServer } from '../support/tcp-servers.ts';

// An incident of Watchpost itself, as services that page people get it from the whole daemon.

const pagers = ['pagerduty', 'opsgenie', 'splunkoncall'];

/** What a service was told: which alert, whether it begins, and the names that people read. */
interface PagerEvent {
  readonly alert: string;
  readonly isEnd: boolean;
  readonly names: readonly unknown[];
}

const readers: Readonly<Record<string, (received: Received) => PagerEvent>> = {
  pagerduty(received) {
    const { dedup_key: alert = '', event_action: action, payload } = jsonOf(received);
    const { source, summary } = (payload ?? {}) as { readonly source?: string; readonly summary?: string };
    return { alert, isEnd: String(action) === 'resolve', names: [source, summary] };
  },
  opsgenie(received) {
    const [, closed] = /\/v2\/alerts\/([^/]+)\/close\?/.exec(received.path) ?? [];
    const { alias = '', entity, message } = jsonOf(received);
    return { alert: decodeURIComponent(closed ?? alias), isEnd: closed !== undefined, names: [entity, message] };
  },
  splunkoncall(received) {
    const { entity_id: alert = '', message_type: type, entity_display_name: name } = jsonOf(received);
    return { alert, isEnd: String(type) === 'RECOVERY', names: [name] };
  },
};

test('pagers get an incident of Watchpost itself by a plain name, and its end', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(tempFolder());
  const services = await Promise.all(
    httpServices.filter(({ name }) => pagers.includes(name)).map(async (service) => start(service, folder.path, stack)),
  );
  expect(services.map(({ name }) => name).toSorted()).toEqual(pagers.toSorted());
  const addresses = await Promise.all(
    ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map(async (host) => ({ host, port: await closedPort() })),
  );
  const listen = async () =>
    Promise.all(addresses.map(async ({ host, port }) => tcpServer((socket) => socket.end(), host, port)));
  const config = {
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    defaults: { every: '1s' },
    targets: Object.fromEntries(
      addresses.map(({ host, port }, index) => [`t${index}`, { check: 'tcp', host: `${host}:${port}` }]),
    ),
    notify: Object.fromEntries(services.map(({ name, contact }) => [name, contact])),
  };
  const servers = await listen();
  const daemon = stack.use(await startDaemonIn(folder.path, JSON.stringify(config), { renewal: renewalTimes }));
  const read = async () => (await fetch(`http://127.0.0.1:${daemon.web.addr().port}/`)).text();
  await eventually(30_000, async () => expect(await read()).toContain('All 3 targets are up.'));

  // Nothing answers any more: more likely the own network than all targets at once.
  await Promise.all(servers.map(async (server) => server[Symbol.asyncDispose]()));
  await eventually(60_000, () => {
    for (const { name, events } of services)
      expect(events(), name).toEqual([
        { alert: expect.stringMatching(/^own connectivity\//), isEnd: false, names: expect.anything() },
      ]);
  });
  for (const { name, events } of services) {
    const names = events().flatMap((one) => one.names);
    expect(names, name).toContainEqual(expect.stringMatching(/network connectivity/));
    expect(JSON.stringify(names), name).not.toContain('own connectivity');
  }

  for (const server of await listen()) stack.use(server);
  await eventually(60_000, () => {
    for (const { name, events } of services)
      expect(
        events().map(({ isEnd }) => isEnd),
        name,
      ).toEqual([false, true]);
  });
  for (const { name, events } of services) expect(new Set(events().map(({ alert }) => alert)).size, name).toBe(1);
}, 200_000);

/** A server of this service, and its entry in `notify` with its files in the folder. */
async function start(service: HttpService, folder: string, stack: AsyncDisposableStack) {
  // Each of them takes this for "accepted".
  const sink = stack.use(await startSink(() => says(202, { status: 'success', result: 'success' })));
  const { type, written, files } = service.contact(sink.origin);
  const named = Object.entries(files).map(([key, text]) => ({ key, text, file: `${type}-${key}` }));
  for (const { file, text } of named) await writeFile(join(folder, file), `${text}\n`, { mode: 0o600 });
  const entry = { ...written, ...Object.fromEntries(named.map(({ key, file }) => [key, file])) };
  const events = () => sink.received.map((one) => readers[service.name]!(one));
  return { name: service.name, contact: { [type]: entry }, events };
}
