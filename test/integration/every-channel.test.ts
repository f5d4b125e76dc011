import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bodyText, httpServices } from '../support/http-services.ts';
import { type Received, startSink } from '../support/http-sink.ts';
import { createProgram, eventually, query } from '../support/program.ts';
import { closedPort } from '../support/tcp-servers.ts';

// Every service that is spoken to over HTTP, as a user configures it: all of them hear of one outage, over a restart of the daemon.

async function listen(port: number) {
  const server = createServer((socket) => socket.on('error', () => {}).end());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('every service hears of an outage and of its end, in one thread where it has threads, over a restart', async () => {
  await using stack = new AsyncDisposableStack();
  const program = stack.use(await createProgram());
  const services = await Promise.all(
    httpServices.map(async (service, index) => {
      const answer = service.fake();
      const refusals: string[] = [];
      const sink = stack.use(
        await startSink((received: Received) => {
          const step = answer(received);
          if (typeof step === 'string' || step.status >= 400)
            refusals.push(`${received.method} ${received.path} ${JSON.stringify(step)}`);
          return step;
        }),
      );
      const { type, written, files } = service.contact(sink.origin);
      const named = Object.entries(files).map(([key, text]) => ({ key, text, file: `${index}-${key}` }));
      for (const { file, text } of named) await writeFile(join(program.folder, file), `${text}\n`, { mode: 0o600 });
      const entry = { ...written, ...Object.fromEntries(named.map(({ key, file }) => [key, file])) };
      return { service, sink, refusals, notify: `n${index}`, contact: { [type]: entry, group_wait: '0s' } };
    }),
  );
  const port = await closedPort();
  const config = JSON.stringify({
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    defaults: { every: '2s' },
    targets: { shop: { check: 'tcp', host: `127.0.0.1:${port}` } },
    notify: Object.fromEntries(services.map(({ notify, contact }) => [notify, contact])),
  });
  const first = await program.start(config);
  await eventually(90_000, () => {
    const deaf = services.filter(({ sink }) => !sink.received.some((one) => bodyText(one).includes('shop')));
    expect(deaf.map(({ service, refusals }) => [service.name, ...refusals].join('\n  '))).toEqual([]);
  });
  // It is killed once it has written that each was accepted.
  await eventually(60_000, () => {
    const sent = query(program.database, "SELECT id FROM deliveries WHERE state = 'sent'");
    expect(sent).toHaveLength(services.length);
  });
  await first.end('SIGKILL');
  const server = await listen(port);
  stack.defer(() => void server.close());
  const { url, log, end } = await program.start(config);
  await eventually(90_000, () => {
    const apart = services.filter(({ service: { follows }, sink }) => {
      const [beginning, ...others] = sink.received;
      const isEnd = (one: Received) =>
        follows === null || beginning === undefined ? /up again/i.test(bodyText(one)) : follows(one, beginning);
      return !others.some(isEnd);
    });
    expect(apart.map(({ service, sink }) => [service.name, ...sink.received.map(bodyText)].join('\n  '))).toEqual([]);
  });
  expect(services.flatMap(({ refusals }) => refusals)).toEqual([]);

  const pages = ['/', '/deliveries', '/api/v1/incidents', '/metrics'].map(async (path) =>
    (await fetch(url + path)).text(),
  );
  const shown = await Promise.all(pages);
  await end('SIGTERM');
  const stored = globSync('watchpost.db*', { cwd: program.folder }).map((name) =>
    readFileSync(join(program.folder, name), 'latin1'),
  );
  for (const text of [...shown, ...stored, JSON.stringify([first.log, log])])
    for (const hidden of services.flatMap(({ service }) => service.secrets))
      expect(text.includes(hidden), hidden).toBe(false);
}, 300_000);
