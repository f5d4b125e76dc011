import { expect, test } from 'vitest';
import type { PushDevices } from '#channels/channel.ts';
import { push } from '#channels/push.ts';
import { DeadlineError } from '#kernel/clock.ts';
import type { Message } from '#monitor/notify/channel.ts';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { sampleMessages } from '#monitor/notify/sample-messages.ts';
import type { Device } from '#subscriptions/device-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { mailKinds } from '../../support/mail-kinds.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { createPushBrowser, type Pushed, startPushService, verifiedVapid } from '../../support/push-service.ts';

const opened = mailKinds[0]!.message;
const resolved = mailKinds[2]!.message;
const soon = () => AbortSignal.timeout(20_000);

/** A channel with devices at this push service, one for each name. */
function openPush(origin: string, names: readonly string[], refusal: string | null = null) {
  const browsers = new Map(names.map((name) => [name, createPushBrowser()]));
  let known = names.map((name): Device => {
    const { p256dh, auth } = browsers.get(name)!;
    const keys = { endpoint: `${origin}/send/${name}-0123456789abcdef`, p256dh, auth };
    return { id: name, recipient: 'ops', name, user: null, origin: 'https://watch.example', ...keys, createdAt: 0 };
  });
  let refused: Error | null = null;
  const devices: PushDevices = {
    list: () => known,
    remove(id) {
      if (refused !== null) throw refused;
      known = known.filter((one) => one.id !== id);
    },
    secret: () => 'secret of the installation',
    pin: async () =>
      refusal === null
        ? { ok: true, address: { address: '127.0.0.1', family: 4 } }
        : { ok: false, reason: `refused: ${refusal}` },
  };
  const environment = {
    clock: new FakeClock('2026-01-01T12:01:30Z'),
    log: memoryLog().log,
    folder: '/nowhere',
    hostname: 'localhost',
    renewal: renewalTimes,
    devices,
  };
  const contact = { notify: 'ops', entry: push.Entry.parse({ keep_for: '1h' }), files: {} };
  const channel = push.open(environment, () => [contact], { push: { value: undefined, files: {} } });
  const read = ({ path, body }: Pushed) => {
    const name = /send\/(\w+)-/.exec(path)?.[1] ?? '';
    return JSON.parse(browsers.get(name)!.decrypt(body)) as Record<string, string | null>;
  };
  const refuseToRemove = (error: Error | null) => void (refused = error);
  return { channel, read, refuseToRemove, names: () => known.map(({ name }) => name) };
}

test.each([...mailKinds, ...sampleMessages('UTC', 0, 'ops').map((message) => ({ name: 'sample', message }))])(
  'a message of the kind $name arrives whole, encrypted for its device, from a known sender',
  async ({ message }) => {
    await using service = await startPushService();
    const { channel, read } = openPush(service.origin, ['phone']);
    expect(await channel.send(message, 'ops', soon())).toMatchObject({
      kind: 'delivered',
      response: 'taken for 1 device',
    });
    const [received] = service.received;
    expect(read(received!)).toMatchObject({ title: message.content.subject.slice(0, 200), link: message.content.link });
    expect(received).toMatchObject({
      method: 'POST',
      headers: { ttl: '3600', 'content-encoding': 'aes128gcm', topic: expect.stringMatching(/^[\w-]{32}$/) },
    });
    expect(received!.body.length).toBeLessThanOrEqual(4_096);
    expect(received!.body.includes(message.content.subject)).toBe(false);
    const { claims } = verifiedVapid(received!.headers.authorization);
    expect(claims).toMatchObject({ aud: service.origin, sub: 'https://watch.example' });
    await channel.close();
  },
);

test('the end of an incident replaces its beginning, and a repeat the same message', async () => {
  await using service = await startPushService();
  const { channel, read } = openPush(service.origin, ['phone']);
  const receipt = await channel.send(opened, 'ops', soon());
  await channel.send(opened, 'ops', soon());
  const reference = receipt.kind === 'delivered' ? receipt.reference! : '';
  const beginnings = new Map(resolved.incidents.map(({ id }) => [id, reference]));
  await channel.send({ ...resolved, beginnings }, 'ops', soon());
  const [first, second, end] = service.received.map(read);
  expect(second).toEqual(first);
  expect(end!['title']).not.toBe(first!['title']);
  expect([first!['tag'], end!['tag']]).toEqual([reference, reference]);
  expect(service.received.map(({ headers }) => [headers.topic, headers.urgency])).toEqual([
    [reference, 'high'],
    [reference, 'high'],
    [reference, 'normal'],
  ]);
  await channel.close();
});

test('a retry is for the devices that have not got it, and one whose subscription has ended is removed', async () => {
  let status = 503;
  await using service = await startPushService((path) =>
    path.includes('old') ? 410 : path.includes('tablet') ? status : 201,
  );
  const { channel, names } = openPush(service.origin, ['phone', 'old', 'tablet']);
  expect(await channel.send(opened, 'ops', soon())).toMatchObject({
    kind: 'retry',
    reason: expect.stringMatching(/^503/),
  });
  expect(names()).toEqual(['phone', 'tablet']);
  status = 201;
  expect(await channel.send(opened, 'ops', soon())).toMatchObject({ kind: 'delivered' });
  const paths = service.received.map(({ path }) => /send\/(\w+)/.exec(path)?.[1] ?? '');
  expect(paths.toSorted()).toEqual(['old', 'phone', 'tablet', 'tablet']);
  await channel.close();
});

test('a device that cannot be removed for now has the others get nothing twice', async () => {
  await using service = await startPushService((path) => (path.includes('old') ? 410 : 201));
  const { channel, names, refuseToRemove } = openPush(service.origin, ['phone', 'old']);
  refuseToRemove(new Error('the disk is full'));
  expect(await channel.send(opened, 'ops', soon())).toMatchObject({ kind: 'delivered' });
  refuseToRemove(null);
  expect(await channel.send(resolved, 'ops', soon())).toMatchObject({ kind: 'delivered' });
  expect(names()).toEqual(['phone']);
  await channel.close();
});

test('without a device, or with none left, it waits for one', async () => {
  await using service = await startPushService(() => 404);
  const none = openPush(service.origin, []);
  expect(await none.channel.send(opened, 'ops', soon())).toEqual({
    kind: 'retry',
    reason: 'ops has no device: add one on the page /devices',
  });
  const last = openPush(service.origin, ['phone']);
  expect(await last.channel.send(opened, 'ops', soon())).toEqual({
    kind: 'retry',
    reason: 'ops has no device any more: add one on the page /devices',
  });
  expect(last.names()).toEqual([]);
});

test.each([408, 425, 429, 500, 502, 503, 401, 403, 302])('an answer of %i is tried again', async (status) => {
  await using service = await startPushService(() => status);
  const { channel, names } = openPush(service.origin, ['phone']);
  const receipt = await channel.send(opened, 'ops', soon());
  expect(receipt).toMatchObject({ kind: 'retry', reason: expect.stringContaining(String(status)) });
  expect(JSON.stringify(receipt)).not.toContain('0123456789abcdef');
  expect(names()).toEqual(['phone']);
});

test('a push service that refuses the very message is not asked again', async () => {
  await using service = await startPushService(() => 413);
  const { channel } = openPush(service.origin, ['phone']);
  expect(await channel.send(opened, 'ops', soon())).toMatchObject({
    kind: 'rejected',
    reason: expect.stringMatching(/^413/),
  });
});

test('an address that may not be reached gets nothing', async () => {
  await using service = await startPushService();
  const { channel } = openPush(service.origin, ['phone'], 'it is a private address');
  expect(await channel.send(opened, 'ops', soon())).toMatchObject({
    kind: 'retry',
    reason: expect.stringContaining('refused: it is a private address'),
  });
  expect(service.received).toEqual([]);
});

test('it ends by its signal, and says that the message may have arrived', async () => {
  await using service = await startPushService();
  const { channel } = openPush(service.origin, ['phone']);
  const stop = new AbortController();
  service.statusOf = () => {
    stop.abort(new DeadlineError(1_000));
    return null;
  };
  expect(await channel.send(opened, 'ops', stop.signal)).toEqual({
    kind: 'retry',
    reason: 'not done within 1 s',
    isUncertain: true,
  });
});

test('a text that is too long for push services is cut between characters', async () => {
  await using service = await startPushService();
  const { channel, read } = openPush(service.origin, ['phone']);
  const long: Message = {
    ...opened,
    content: { ...opened.content, subject: '障'.repeat(500), remarks: ['障'.repeat(5_000)] },
  };
  expect(await channel.send(long, 'ops', soon())).toMatchObject({ kind: 'delivered' });
  const [received] = service.received;
  expect(received!.body.length).toBeLessThanOrEqual(4_096);
  expect(read(received!)['body']).toMatch(/…$/);
});
