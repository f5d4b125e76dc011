import { describe, expect, test } from 'vitest';
import { DeadlineError } from '#kernel/clock.ts';
import type { Message } from '#monitor/notify/channel.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { bodyText, httpServices } from '../../support/http-services.ts';
import { startSink, type Step } from '../../support/http-sink.ts';
import { delivery, shopBack, shopDown } from '../../support/incidents.ts';
import { mailKinds } from '../../support/mail-kinds.ts';
import { openAt, start, tempFolder } from '../../support/store.ts';
import { MemoryDeliveries } from '../../support/memory-deliveries.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const hour = 3_600_000;
const opened = mailKinds[0]!.message;
const soon = () => AbortSignal.timeout(20_000);

describe.concurrent.each(httpServices)('$name', (service) => {
  async function send(answer: () => Step, message: Message = opened, signal = soon()) {
    await using sink = await startSink(answer);
    const channel = service.contact(sink.origin).open();
    const receipt = await channel.send(message, 'ops', signal);
    await channel.close();
    return { receipt, received: sink.received };
  }

  test.each(mailKinds)('takes a message of the kind $name', async ({ message }) => {
    await using sink = await startSink(service.fake());
    const channel = service.contact(sink.origin).open();
    const receipt = await channel.send(message, 'ops', soon());
    // Who keeps an alert for each incident has no use for what is about none.
    const isUseless =
      message.incidents.length === 0 &&
      ['pagerduty', 'opsgenie', 'splunkoncall', 'alertmanager'].includes(service.name);
    expect(receipt).toMatchObject(isUseless ? { kind: 'rejected' } : { kind: 'delivered' });
    await channel.close();
  });

  test('shows where to acknowledge, unless that is done in the service itself', async () => {
    const acknowledge = 'https://watchpost.example.com/acknowledge/abc.def';
    const { received } = await send(() => ({ status: 200 }), {
      ...opened,
      content: { ...opened.content, acknowledge },
    });
    const isDoneThere = ['pagerduty', 'alertmanager'].includes(service.name);
    const isSpoken = service.name === 'twilio with calls';
    expect(received.map(bodyText).join('\n').includes(acknowledge)).toBe(!isDoneThere && !isSpoken);
  });

  test('sends the same again where a message is repeated', async () => {
    await using sink = await startSink(service.fake());
    const channel = service.contact(sink.origin).open();
    await channel.send(opened, 'ops', soon());
    await channel.send(opened, 'ops', soon());
    const [first, second] = sink.received;
    expect({ path: second?.path, body: second?.body }).toEqual({ path: first?.path, body: first?.body });
    await channel.close();
  });

  test.each([
    { status: 408 },
    { status: 425 },
    { status: 429 },
    { status: 500 },
    { status: 502 },
    { status: 503 },
    { status: 401 },
    { status: 403 },
    { status: 404 },
    { status: 302 },
  ])('that answers $status is tried again, and the reason says why', async ({ status }) => {
    const { receipt } = await send(() => ({ status, body: 'said by the fake' }));
    expect(receipt).toMatchObject({ kind: 'retry', reason: expect.stringContaining(String(status)) });
  });

  test('that refuses the very message is not tried again, and the reason says why', async () => {
    const { receipt } = await send(() => ({ status: 413, body: 'too large' }));
    expect(receipt).toMatchObject({ kind: 'rejected', reason: expect.stringMatching(/^413 .*: too large$/) });
  });

  test.each([{ status: 429 }, { status: 503 }])('that asks for patience with $status gets it', async ({ status }) => {
    const { receipt } = await send(() => ({ status, headers: { 'retry-after': '120' } }));
    expect(receipt).toMatchObject({ kind: 'retry', afterMs: 120_000 });
  });

  test('that never answers ends with the signal, and may have taken it', async () => {
    await using sink = await startSink(() => 'hang');
    const channel = service.contact(sink.origin).open();
    const controller = new AbortController();
    const sending = channel.send(opened, 'ops', controller.signal);
    await expect.poll(() => sink.received.length, { timeout: 20_000 }).toBe(1);
    controller.abort(new DeadlineError(60_000));
    expect(await sending).toEqual({ kind: 'retry', reason: 'not done within 60 s', isUncertain: true });
  });

  test('that drops the connection after the body may have taken it', async () => {
    expect((await send(() => 'drop')).receipt).toMatchObject({ kind: 'retry', isUncertain: true });
  });

  test.each([
    { name: 'says something else than it should', step: { status: 200, body: '<html>no</html>' } as const },
    { name: 'breaks off', step: 'cut' as const },
  ])('that $name has taken it where the status says so, and may have where not', async ({ step }) => {
    const { receipt } = await send(() => step);
    expect(receipt).toMatchObject(
      service.readsStatusOnly ? { kind: 'delivered' } : { kind: 'retry', isUncertain: true },
    );
  });

  test('that is not there has not taken it', async () => {
    const sink = await startSink();
    await sink[Symbol.asyncDispose]();
    const channel = service.contact(sink.origin).open();
    const receipt = await channel.send(opened, 'ops', soon());
    expect(receipt).toEqual({ kind: 'retry', reason: expect.stringContaining('ECONNREFUSED') });
    await channel.close();
  });

  test('never shows its secrets, even where the other side does', async () => {
    const shown = [
      await send(() => ({ status: 500, body: service.secrets.join(' and ') })),
      await send(() => ({ status: 413, body: service.secrets.join(' and ') })),
    ].map(({ receipt }) => JSON.stringify(receipt));
    for (const secret of service.secrets) for (const text of shown) expect(text).not.toContain(secret);
  });

  test('that is not configured any more gets nothing', async () => {
    await using sink = await startSink();
    const channel = service.contact(sink.origin).open();
    expect(await channel.send(opened, 'gone', soon())).toMatchObject({
      kind: 'rejected',
      reason: expect.stringMatching(/^notify\.gone has no \w+ any more$/),
    });
    expect(sink.received).toEqual([]);
    await channel.close();
  });

  test.each([
    { name: 'answers 500', step: { status: 500 } as const },
    { name: 'answers 503 and asks for patience', step: { status: 503, headers: { 'retry-after': '60' } } as const },
    { name: 'answers 429', step: { status: 429, headers: { 'retry-after': '5' } } as const },
    { name: 'has forgotten us', step: { status: 403 } as const },
    { name: 'drops every connection', step: 'drop' as const },
  ])('that $name for the whole outage hears of it when it is back', async ({ step }) => {
    await using sink = await startSink(() => step);
    const clock = new FakeClock('2026-01-01T12:01:30Z');
    const store = new MemoryDeliveries();
    const channel = { ...service.contact(sink.origin).open(clock), name: 'email' };
    const options = { store, channels: [channel], clock, random: seededRandom(), log: memoryLog().log };
    const outbox = createOutbox({ ...options, linkTo: () => null, policyOf: () => alone });
    const deliver = async () => {
      clock.step(hour);
      await outbox.drain(soon());
    };
    outbox.start();
    store.add(shopDown, { ...delivery(), recipient: 'ops' });
    await deliver();
    expect(store.states.get(1)).toBe('pending');
    store.add(shopBack, { ...delivery({ id: 2, kind: 'resolved', createdAt: clock.now() }), recipient: 'ops' });
    await deliver();
    expect(sink.received.length).toBeGreaterThan(1);
    sink.answer = service.fake();
    await deliver();
    await deliver();
    // Where the message may have arrived it is repeated as it was. Otherwise one message tells it all.
    expect([...store.states.values()]).toEqual(step === 'drop' ? ['sent', 'sent'] : ['sent', 'merged']);
    await outbox.stop();
    await channel.close();
  });
});

const following = httpServices.filter(({ follows }) => follows !== null);

describe.concurrent.each(following)('$name', (service) => {
  test('is told of an end under the beginning, after a restart too', async () => {
    using folder = tempFolder();
    await using sink = await startSink(service.fake());
    const clock = new FakeClock(new Date(start).toISOString());
    const path = `${folder.path}/watchpost.db`;
    for (const [incident, one] of [
      [shopDown, { ...delivery(), channel: 'it', recipient: 'ops' }],
      [shopBack, { ...delivery({ kind: 'resolved' }), channel: 'it', recipient: 'ops' }],
    ] as const) {
      const store = openAt(path, clock);
      await store.record({
        target: 'shop',
        dueAt: start,
        votes: [],
        states: [],
        incidents: [incident],
        deliveries: [one],
      });
      const channel = { ...service.contact(sink.origin).open(clock), name: 'it' };
      const { log } = memoryLog();
      const options = { store, channels: [channel], clock, random: seededRandom(), log, linkTo: () => null };
      const outbox = createOutbox({ ...options, policyOf: () => alone });
      outbox.start();
      await outbox.drain(soon());
      await outbox.stop();
      await channel.close();
      await store.close();
      clock.step(hour);
    }
    const [first, ...later] = sink.received;
    expect(later.filter((one) => service.follows?.(one, first!))).not.toEqual([]);
    const again = openAt(path, clock);
    expect(again.listDeliveries({ limit: 10 }).map(({ state }) => state)).toEqual(['sent', 'sent']);
    await again.close();
  });
});
