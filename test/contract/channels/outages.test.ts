import { describe, expect, test } from 'vitest';
import { createSmtpChannel } from '#channels/smtp.ts';
import { createOutbox } from '#monitor/notify/outbox.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { delivery, shopBack, shopDown } from '../../support/incidents.ts';
import { smtpServer, template } from '../../support/mails.ts';
import { MemoryDeliveries } from '../../support/memory-deliveries.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { alone } from '../../support/policies.ts';
import { type SmtpPhase, type SmtpStep, startScriptedSmtp } from '../../support/scripted-smtp.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const hour = 3_600_000;
const quick = { dnsMs: 1_000, connectMs: 400, greetingMs: 200, silenceMs: 200, otherMs: 60_000 };
const opened = delivery();
const resolved = delivery({ id: 2, kind: 'resolved', createdAt: Date.parse('2026-01-01T12:09:42Z') });
const phases: readonly SmtpPhase[] = ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'];

async function setUp(script: Partial<Record<SmtpPhase, SmtpStep>>, pool = false) {
  const server = await startScriptedSmtp(script);
  const clock = new FakeClock('2026-01-01T12:01:30Z');
  const store = new MemoryDeliveries();
  const written = { url: `smtp://127.0.0.1:${server.port}`, ...(pool ? { pool: {} } : {}) };
  const channel = createSmtpChannel({
    server: smtpServer(written),
    template,
    hostname: 'localhost',
    clock: clock,
    timeouts: quick,
  });
  const { log } = memoryLog();
  const options = { store, channels: [channel], clock, random: seededRandom(), log, linkTo: () => null };
  const outbox = createOutbox({ ...options, policyOf: () => alone });
  outbox.start();
  return {
    server,
    store,
    clock,
    deliver: async () => outbox.drain(AbortSignal.timeout(50_000)),
    async [Symbol.asyncDispose]() {
      await outbox.stop();
      await channel.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const steps: readonly { readonly name: string; readonly step: SmtpStep }[] = [
  { name: 'hangs', step: 'hang' },
  { name: 'closes the connection', step: 'close' },
  { name: 'breaks the connection', step: 'reset' },
  { name: 'asks for patience', step: ['451 4.7.1 try again later'] },
];

describe.concurrent.each([
  { how: 'over connections of their own', pool: false },
  { how: 'over a pool', pool: true },
])('mails $how', ({ pool }) => {
  test.each(phases.flatMap((phase) => steps.map((one) => ({ ...one, phase }))))(
    'survive a server that $name at the $phase for the whole outage',
    async ({ phase, step }) => {
      const script: Partial<Record<SmtpPhase, SmtpStep>> = { [phase]: step };
      await using place = await setUp(script, pool);
      const { store, server, clock, deliver } = place;
      store.add(shopDown, opened);
      await deliver();
      expect(store.states.get(1)).toBe('pending');
      clock.step(hour);
      store.add(shopBack, resolved);
      await deliver();
      // On a busy machine an attempt may run out of time before it comes so far.
      while (server.commands.filter((one) => one === phase).length < 2) {
        clock.step(hour);
        await deliver();
      }
      delete script[phase];
      clock.step(hour);
      await deliver();
      clock.step(hour);
      await deliver();
      // One mail tells it all. If the first was handed over whole it may have arrived: this is another one, and both are known.
      const mayHaveArrived = phase === 'dot' && !Array.isArray(step);
      expect([...store.states.values()]).toEqual(mayHaveArrived ? ['merged', 'sent'] : ['sent', 'merged']);
      expect(store.messages.get(1) === store.messages.get(2)).toBe(!mayHaveArrived);
    },
  );
});
