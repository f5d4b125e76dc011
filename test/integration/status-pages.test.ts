import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import { monthAt } from '#kernel/zoned-time.ts';
import { renewalTimes } from '#monitor/notify/channel.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { eventually } from '../support/program.ts';
import { incident, openAt, round, tempFolder } from '../support/store.ts';
import { tcpServer } from '../support/tcp-servers.ts';

// What visitors of a status page read, from the whole daemon, in part over a history that it finds.

interface StatusAnswer {
  readonly incidents: readonly { readonly service: string; readonly from: string; readonly to: string | null }[];
}

async function writeIncidents(folder: string, incidents: readonly Incident[]): Promise<void> {
  const store = openAt(join(folder, 'watchpost.db'), systemClock);
  await Promise.all(incidents.map(async (one) => store.record(round(one.target, one.openedAt, { incidents: [one] }))));
  await store.close();
}

test('a status page leaves out no outage because of other incidents, nor one that began before its span', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(tempFolder());
  const server = stack.use(await tcpServer((socket) => socket.end()));
  const now = systemClock.now();
  const began = { flapping: now - 3 * dayMs, long: now - 40 * dayMs };
  const slow = Array.from({ length: 250 }, (_, index) => {
    const at = now - dayMs + index * 60_000;
    const held = index % 2 === 0 ? null : ({ by: 'silence', why: 'silence until noon' } as const);
    return incident('flapping', at, {
      id: `flapping/slow/${at}`,
      rule: 'slow',
      severity: held === null ? 'warning' : 'critical',
      startedAt: at,
      endedAt: at + 30_000,
      held,
    });
  });
  await writeIncidents(folder.path, [
    incident('flapping', began.flapping, { startedAt: began.flapping, endedAt: began.flapping + hourMs }),
    incident('long', began.long, { startedAt: began.long, endedAt: now - dayMs }),
    ...slow,
  ]);
  const target = { check: 'tcp', host: `127.0.0.1:${server.port}` };
  const config = {
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    defaults: { every: '1s' },
    targets: { flapping: target, long: target },
    pages: { status: { title: 'Example', targets: { flapping: 'Web shop', long: 'Payments' } } },
  };
  const daemon = stack.use(await startDaemonIn(folder.path, JSON.stringify(config), { renewal: renewalTimes }));
  const get = async (path: string) => fetch(`http://127.0.0.1:${daemon.web.addr().port}${path}`);

  await eventually(10_000, async () => {
    const { incidents } = (await (await get('/status.json')).json()) as StatusAnswer;
    expect(incidents.map(({ service, from }) => [service, Date.parse(from)])).toEqual([
      ['Web shop', began.flapping],
      ['Payments', began.long],
    ]);
  });
  const archive = async (at: number) => (await get(`/status/status/history?month=${monthAt(at, 'UTC')}`)).text();
  expect(await archive(began.flapping)).toContain('Web shop was not working for 1 hour');
  // The long one went on for some days of these months.
  for (const at of [began.long, now - 15 * dayMs])
    expect(await archive(at)).toContain('Payments was not working for 39 days');
});

test('two targets in maintenance at the same time are in the feed and the calendar of a status page', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(tempFolder());
  const server = stack.use(await tcpServer((socket) => socket.end()));
  const at = Math.ceil(systemClock.now() / hourMs) * hourMs + dayMs;
  const written = (moment: number) => `${new Date(moment).toISOString().slice(0, 16)}Z`;
  const span = { from: written(at), to: written(at + hourMs) };
  const target = { check: 'tcp', host: `127.0.0.1:${server.port}` };
  const config = {
    data: 'watchpost.db',
    http: { listen: '127.0.0.1:0' },
    targets: { shop: target, mail: target },
    maintenance: [
      { targets: ['shop'], ...span },
      { targets: ['mail'], ...span },
    ],
    pages: { status: { title: 'Example', targets: { shop: 'Web shop', mail: 'Mail' } } },
  };
  const daemon = stack.use(await startDaemonIn(folder.path, JSON.stringify(config), { renewal: renewalTimes }));
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${daemon.web.addr().port}${path}`)).text();
  // Programs take two entries of one id for the same one.
  const calendar = await read('/status.ics');
  const ids = [...calendar.matchAll(/^UID:(.*)$/gm)].map(([, id]) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(calendar).toContain('Web shop');
  expect(calendar).toContain('Mail');
  const feed = await read('/status.atom');
  const entries = [...feed.matchAll(/<entry><id>([^<]*)<\/id>/g)].map(([, id]) => id);
  expect(entries).toEqual([...new Set(entries)]);
  expect(feed).toContain('Web shop');
  expect(feed).toContain('Mail');
});
