import { describe, expect, test } from 'vitest';
import { channelTypes } from '#channels/index.ts';
import { createSlot } from '#compose/channel-slot.ts';
import { type Channel, type Renew, renewalTimes } from '#monitor/notify/channel.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { shopDown } from '../../support/incidents.ts';
import { mailKinds } from '../../support/mail-kinds.ts';
import { memoryLog } from '../../support/memory-log.ts';

const { signal } = new AbortController();
const { message } = mailKinds[0]!;

/** A channel of which each member answers with its own name. */
function answering(name: string): Channel & { isClosed: boolean } {
  const renew: Renew = async (open, recipient) => {
    const targets = open().map(({ incident }) => incident.target);
    return { kind: 'delivered', response: `${name} renews ${targets.join(', ')} for ${recipient}` };
  };
  return {
    name: 'alertmanager',
    attemptMs: 1_000,
    isClosed: false,
    send: async ({ id }, recipient) => ({ kind: 'delivered', response: `${name} sends ${id} to ${recipient}` }),
    renew,
    async close() {
      this.isClosed = true;
    },
  };
}

describe('a channel that can be exchanged', () => {
  test('has every member of the one behind it, and none that this one has not', () => {
    const environment = {
      clock: new FakeClock(),
      log: memoryLog().log,
      folder: '/nowhere',
      hostname: 'localhost',
      renewal: renewalTimes,
      devices: null,
    };
    const sections = {
      push: { value: undefined, files: {} },
      smtp: { value: undefined, files: {} },
      templates: { value: {}, files: {} },
    };
    for (const type of channelTypes) {
      const bare = type.open(environment, () => [], sections);
      const { channel } = createSlot(bare, { clock: new FakeClock(), log: memoryLog().log });
      const members = (one: Channel) =>
        Object.fromEntries(Object.entries(one).map(([key, value]) => [key, value === null ? null : typeof value]));
      expect(members(channel)).toEqual(members(bare));
    }
    const renewing = channelTypes.filter((type) => type.open(environment, () => [], sections).renew !== null);
    expect(renewing.map(({ name }) => name)).toEqual(['alertmanager']);
  });

  test('uses the next one from then on, for all that it can do', async () => {
    const [first, next] = [answering('first'), answering('next')];
    const slot = createSlot(first, { clock: new FakeClock(), log: memoryLog().log });
    const renewed = async () => slot.channel.renew?.(() => [{ incident: shopDown, link: null }], 'ops', signal);
    expect(await renewed()).toMatchObject({ response: 'first renews shop for ops' });
    slot.replace(next);
    expect(first.isClosed).toBe(true);
    expect(await renewed()).toMatchObject({ response: 'next renews shop for ops' });
    expect(await slot.channel.send(message, 'ops', signal)).toMatchObject({
      response: `next sends ${message.id} to ops`,
    });
    await slot.channel.close();
    expect(next.isClosed).toBe(true);
  });

  test('lets a renewal that is under way end before it closes what was exchanged', async () => {
    const first = answering('first');
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow: Channel & { isClosed: boolean } = {
      ...first,
      renew: async () => {
        await promise;
        return { kind: 'delivered', response: String(slow.isClosed) };
      },
    };
    const slot = createSlot(slow, { clock: new FakeClock(), log: memoryLog().log });
    const renewing = slot.channel.renew?.(() => [], 'ops', signal);
    slot.replace(answering('next'));
    resolve();
    expect(await renewing).toMatchObject({ response: 'false' });
    expect(slow.isClosed).toBe(true);
  });

  test('is closed although what was exchanged hangs, and the log says which', async () => {
    const clock = new FakeClock();
    const { log, lines } = memoryLog();
    const hanging: Channel = { ...answering('first'), close: async () => new Promise(() => {}) };
    const slot = createSlot(hanging, { clock, log });
    slot.replace({ ...answering('next'), close: async () => new Promise(() => {}) });
    await clock.advance(60_000);
    expect(lines).toEqual([
      expect.objectContaining({ msg: 'a channel did not close in time', channel: 'alertmanager' }),
    ]);
    const closed = slot.channel.close();
    await clock.advance(60_000);
    await closed;
    expect(lines).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  test('says so in the log if what was exchanged cannot be closed', async () => {
    const { log, lines } = memoryLog();
    const broken: Channel = {
      ...answering('first'),
      async close() {
        throw new Error('no');
      },
    };
    const clock = new FakeClock();
    const slot = createSlot(broken, { clock, log });
    slot.replace(answering('next'));
    await clock.advance(1_000);
    expect(lines).toEqual([expect.objectContaining({ msg: 'cannot close a channel', channel: 'alertmanager' })]);
  });

  test.each([
    { name: 'after the time of an attempt', end: async (clock: FakeClock) => clock.advance(60_000), said: 1 },
    { name: 'when the program stops', end: async (_: FakeClock, channel: Channel) => channel.close(), said: 0 },
  ])('closes what was exchanged $name, although a message over it never ends', async ({ end, said }) => {
    const clock = new FakeClock();
    const { log, lines } = memoryLog();
    const first = { ...answering('first'), send: async () => new Promise<never>(() => {}) };
    const slot = createSlot(first, { clock, log });
    void slot.channel.send(message, 'ops', signal);
    slot.replace(answering('next'));
    await clock.advance(500);
    expect(first.isClosed).toBe(false);
    await end(clock, slot.channel);
    expect(first.isClosed).toBe(true);
    expect(lines.map(({ msg }) => msg)).toEqual(
      Array(said).fill('a message over a replaced channel does not end; closing'),
    );
    expect(clock.pending).toBe(0);
  });
});
