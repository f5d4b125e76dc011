import { expect, test } from 'vitest';
import { alertmanager } from '#channels/alertmanager.ts';
import { systemClock } from '#kernel/clock.ts';
import type { Message } from '#monitor/tell/channel.ts';
import { startAlertmanager } from '../support/alertmanager.ts';
import { openContact } from '../support/http-services.ts';
import { startSink } from '../support/http-sink.ts';
import { shopBack, shopDown } from '../support/incidents.ts';
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

  expect(await channel.renew?.(() => [open], 'ops', signal)).toMatchObject({ kind: 'delivered' });
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
