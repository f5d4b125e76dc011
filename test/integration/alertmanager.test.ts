import { expect, test } from 'vitest';
import { alertmanager } from '#channels/alertmanager.ts';
import { systemClock } from '#kernel/clock.ts';
import type { Message } from '#monitor/notify/channel.ts';
import { startAlertmanager } from '../support/alertmanager.ts';
import { openContact } from '../support/http-services.ts';
import { startSink } from '../support/http-sink.ts';
import { shopBack, shopDown } from '../support/incidents.ts';
import { tempFolder } from '../support/store.ts';
import { closedPort } from '../support/tcp-servers.ts';
import { startDaemonIn } from '../support/daemon.ts';
import { mailKinds } from '../support/mail-kinds.ts';
import { needsProgram } from '../support/programs.ts';

const patience = { timeout: 30_000, interval: 100 };

const ago = (ms: number) => systemClock.now() - ms;

test('Alertmanager shows what is open, takes renewals, and tells people of the beginning and the end', async (context) => {
  needsProgram(context, 'prometheus-alertmanager', 'prometheus-alertmanager');
  await using hook = await startSink();
  await using real = await startAlertmanager(hook.origin);
  const channel = openContact(alertmanager, { urls: [real.url], labels: { env: 'prod' } }, {}, systemClock);
  const open = { ...shopDown, startedAt: ago(60_000), openedAt: ago(30_000) };
  const over = { ...shopBack, startedAt: open.startedAt, openedAt: open.openedAt, endedAt: ago(1_000) };
  const message = (incidents: Message['incidents']): Message => ({ ...mailKinds[0]!.message, incidents });
  const signal = AbortSignal.timeout(60_000);

  expect(await channel.send(message([open]), 'ops', signal)).toMatchObject({ kind: 'delivered' });
  await expect.poll(async () => (await real.alerts()).map(({ status }) => status.state), patience).toEqual(['active']);
  const [first] = await real.alerts();
  expect(first?.labels).toEqual({
    alertname: 'WatchpostDown',
    target: 'shop',
    rule: 'down',
    severity: 'critical',
    env: 'prod',
  });
  expect(Date.parse(first?.startsAt ?? '')).toBe(open.startedAt);
  await expect.poll(() => hook.received.map(({ body }) => JSON.parse(body).status), patience).toEqual(['firing']);

  expect(await channel.renew?.(() => [{ incident: open, link: null }], 'ops', signal)).toMatchObject({
    kind: 'delivered',
  });
  await expect
    .poll(async () => Date.parse((await real.alerts())[0]?.endsAt ?? ''), patience)
    .toBeGreaterThan(Date.parse(first?.endsAt ?? ''));

  expect(await channel.send(message([over]), 'ops', signal)).toMatchObject({ kind: 'delivered' });
  await expect
    .poll(() => hook.received.map(({ body }) => JSON.parse(body).status), patience)
    .toEqual(['firing', 'resolved']);
  expect(await real.alerts()).toEqual([]);
  await channel.close();
});

test('Alertmanager takes an end that lies before its beginning, as it may where a clock was set back', async (context) => {
  needsProgram(context, 'prometheus-alertmanager', 'prometheus-alertmanager');
  await using hook = await startSink();
  await using real = await startAlertmanager(hook.origin);
  const channel = openContact(alertmanager, { urls: [real.url] }, {}, systemClock);
  const odd = { ...shopBack, startedAt: ago(0), endedAt: ago(3_600_000) };
  const message = { ...mailKinds[2]!.message, incidents: [odd] };
  expect(await channel.send(message, 'ops', AbortSignal.timeout(30_000))).toMatchObject({ kind: 'delivered' });
  await channel.close();
});

test('an outage longer than the life of an alert fires until its end, also when either side restarts', async (context) => {
  needsProgram(context, 'prometheus-alertmanager', 'prometheus-alertmanager');
  await using hook = await startSink();
  await using real = await startAlertmanager(hook.origin);
  using folder = tempFolder();
  const refused = await closedPort();
  const yaml = `
data: ${folder.path}/watchpost.db
http: { listen: "127.0.0.1:0", public_url: "https://watch.example.com" }
nodes: { de1: {} }
targets:
  shop: { check: tcp, host: "127.0.0.1:${refused}", every: 1s }
notify:
  pager: { alertmanager: { urls: ["${real.url}"] } }
`;
  // A restart of the program has to fit into it, on a busy machine too.
  const times = { renewal: { everyMs: 1_000, validMs: 6_000 } };
  const firing = async () => {
    const alerts = await real.alerts();
    return alerts.map(({ labels, status, generatorURL }) => ({ target: labels['target'], status, generatorURL }));
  };
  const isFiring = [
    expect.objectContaining({
      target: 'shop',
      status: expect.objectContaining({ state: 'active' }),
      generatorURL: expect.stringMatching(/^https:\/\/watch\.example\.com\/incidents\/shop\/down\/\d+$/),
    }),
  ];
  /** Resolves when the alert was renewed so often that it has outlived several lives. */
  const outlives = async (lives: number) => {
    const [first] = await real.alerts();
    const end = Date.parse(first?.endsAt ?? '') + lives * times.renewal.validMs;
    await expect
      .poll(async () => Date.parse((await real.alerts())[0]?.endsAt ?? ''), { timeout: 60_000, interval: 200 })
      .toBeGreaterThan(end);
  };
  {
    await using daemon = await startDaemonIn(folder.path, yaml, times);
    await expect.poll(firing, { ...patience, timeout: 60_000 }).toEqual(isFiring);
    await outlives(3);
    await real.restart();
    await expect.poll(firing, patience).toEqual(isFiring);
    await daemon.stop();
  }
  {
    await using _daemon = await startDaemonIn(folder.path, yaml, times);
    await expect.poll(firing, { ...patience, timeout: 60_000 }).toEqual(isFiring);
    await outlives(2);
    expect(await firing()).toEqual(isFiring);
  }
  const notified = hook.received.map(({ body }) => JSON.parse(body).status);
  expect(new Set(notified)).toEqual(new Set(['firing']));
}, 180_000);
