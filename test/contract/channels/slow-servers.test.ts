import { describe, expect, test } from 'vitest';
import { createSmtpChannel, type SmtpTimeouts, smtpTimeouts } from '#channels/smtp.ts';
import { sleep } from '#kernel/clock.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { delivery, shopBack, shopDown } from '../../support/incidents.ts';
import { smtpServer, template } from '../../support/mails.ts';
import { MemoryDeliveries } from '../../support/memory-deliveries.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { type SmtpPhase, type SmtpStep, startScriptedSmtp } from '../../support/scripted-smtp.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const second = 1_000;
const minute = 60 * second;
const patience = { timeout: 30_000 };
const phases: readonly SmtpPhase[] = ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'];

type Script = Partial<Record<SmtpPhase, SmtpStep>>;

async function setUp(scriptOf: (later: (ms: number, line: string) => SmtpStep) => Script, pool = false) {
  const clock = new FakeClock('2026-01-01T12:01:30Z');
  const { signal } = new AbortController();
  const later = (ms: number, line: string) => async () => {
    await sleep(clock, ms, signal);
    return [line];
  };
  const script = scriptOf(later);
  const server = await startScriptedSmtp(script);
  const store = new MemoryDeliveries();
  const written = { url: `smtp://127.0.0.1:${server.port}`, ...(pool ? { pool: { connections: 1 } } : {}) };
  // Sockets live in real time, which hardly passes here: only what the clock measures ends anything.
  const timeouts: SmtpTimeouts = { ...smtpTimeouts, dnsMs: minute };
  const channel = createSmtpChannel({ server: smtpServer(written), template, hostname: 'localhost', clock, timeouts });
  const { log } = memoryLog();
  const options = { store, channels: [channel], clock, random: seededRandom(), log, linkTo: () => null };
  const outbox = createOutbox({ ...options, policyOf: () => alone });
  outbox.start();
  const count = (phase: SmtpPhase) => server.commands.filter((one) => one === phase).length;
  return {
    server,
    script,
    store,
    clock,
    count,
    wake: () => outbox.wake(),
    states: () => [...store.states.values()],
    async [Symbol.asyncDispose]() {
      await outbox.stop();
      await channel.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const opened = delivery();
const resolved = delivery({ id: 2, kind: 'resolved', createdAt: Date.parse('2026-01-01T12:09:42Z') });

test('a server has the time that RFC 5321 section 4.5.3.2 gives it', () => {
  expect(smtpTimeouts.greetingMs).toBeGreaterThanOrEqual(5 * minute);
  expect(smtpTimeouts.connectMs).toBeGreaterThan(smtpTimeouts.greetingMs);
  expect(smtpTimeouts.silenceMs).toBeGreaterThanOrEqual(10 * minute);
});

describe.each([
  { how: 'a connection of its own', pool: false },
  { how: 'a pool', pool: true },
])('a mail over $how', ({ pool }) => {
  test('gets to a server that answers nine minutes after the final dot once, and its end after it', async () => {
    await using place = await setUp((later) => ({ dot: later(9 * minute, '250 accepted at last') }), pool);
    const { server, clock, store, states } = place;
    store.add(shopDown, opened);
    place.wake();
    await server.reached('dot');
    store.add(shopBack, resolved);
    for (let waited = 0; waited < 9; waited += 1) await clock.advance(minute);
    await expect.poll(() => states()[0], patience).toBe('sent');
    expect(place.count('dot')).toBe(1);
    delete place.script.dot;
    place.wake();
    await expect.poll(states, patience).toEqual(['sent', 'sent']);
    expect(new Set(server.messageIds).size).toBe(2);
    expect(server.messageIds).toHaveLength(2);
  });

  test('gets to a server that takes four minutes for each reply, once', async () => {
    await using place = await setUp(
      (later) => ({
        greeting: later(4 * minute, '220 scripted'),
        ehlo: later(4 * minute, '250 scripted'),
        mail: later(4 * minute, '250 ok'),
        rcpt: later(4 * minute, '250 ok'),
        data: later(4 * minute, '354 go on'),
        dot: later(4 * minute, '250 accepted'),
      }),
      pool,
    );
    place.store.add(shopDown, opened);
    place.wake();
    for (const phase of phases) {
      await place.server.reached(phase);
      await place.clock.advance(4 * minute);
    }
    await expect.poll(place.states, patience).toEqual(['sent']);
    expect(place.count('dot')).toBe(1);
  });

  test('goes over another connection a minute later if the first one is never served, and over one alone', async () => {
    await using place = await setUp(() => ({ greeting: 'hang' }), pool);
    place.store.add(shopDown, opened);
    place.wake();
    await place.server.reached('greeting');
    delete place.script.greeting;
    await place.clock.advance(minute);
    await expect.poll(place.states, patience).toEqual(['sent']);
    expect(place.count('greeting')).toBe(2);
    expect(place.count('dot')).toBe(1);
    await place.server.idle();
  });

  test('is never handed over twice, even if two connections are asked for it', async () => {
    const asked = [Promise.withResolvers<readonly string[]>(), Promise.withResolvers<readonly string[]>()];
    let data = 0;
    await using place = await setUp(
      () => ({
        data: async () => {
          data += 1;
          return asked[data - 1]?.promise ?? [];
        },
      }),
      pool,
    );
    place.store.add(shopDown, opened);
    place.wake();
    await place.server.reached('data');
    await place.clock.advance(minute);
    await expect.poll(() => data, patience).toBe(2);
    for (const one of asked.toReversed()) one.resolve(['354 go on']);
    await expect.poll(place.states, patience).toEqual(['sent']);
    expect(place.count('dot')).toBe(1);
  });
});

describe('a mail server', () => {
  test('that closes after the final dot gets a mail ever more slowly, with its id, and its end by another mail at once', async () => {
    await using place = await setUp(() => ({ dot: 'close' }));
    const { server, store, clock, count, wake } = place;
    store.add(shopDown, opened);
    wake();
    await server.reached('dot');
    await expect.poll(() => store.get(1).attempts, patience).toBe(1);
    await clock.advance(2 * minute - 1);
    expect(count('dot')).toBe(1);
    await clock.advance(minute);
    await expect.poll(() => store.get(1).attempts, patience).toBe(2);
    await clock.advance(3 * minute);
    expect(count('dot')).toBe(2);
    expect(new Set(server.messageIds).size).toBe(1);
    store.add(shopBack, { ...resolved, createdAt: clock.now(), nextAttemptAt: clock.now() });
    delete place.script.dot;
    wake();
    await expect.poll(place.states, patience).toEqual(['merged', 'sent']);
    const known = [1, 2].map((id) => `<${store.messages.get(id)}@example.com>`);
    expect([...new Set(server.messageIds)]).toEqual(known);
    expect(count('dot')).toBe(3);
  });

  test('that hangs after the final dot holds back nothing of another incident', async () => {
    await using place = await setUp(() => ({ dot: 'hang' }));
    const { store, clock, wake } = place;
    store.add(shopDown, opened);
    wake();
    await place.server.reached('dot');
    delete place.script.dot;
    await clock.advance(10 * second);
    const other = { ...shopDown, id: 'blog/down/2', target: 'blog' };
    store.add(other, delivery({ id: 3, incidentId: other.id, createdAt: clock.now(), nextAttemptAt: clock.now() }));
    wake();
    await expect.poll(() => store.states.get(3), patience).toBe('sent');
    expect(store.states.get(1)).toBe('pending');
  });
});
