import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAboutUs } from '#monitor/judge/incident.ts';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import { alone, grouped } from '../../../support/policies.ts';
import { accepted, type Attempt, hang, refusedForGood } from '../../../support/recording-channel.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { rule, startScenario, target } from '../../../support/scenario.ts';

// A mail server that puts off, asks for patience, refuses for good, hangs or loses its answers, while incidents begin and end and the program is restarted:
// everybody hears of everything in the end, in its order, and nothing is told twice that was surely heard.

const minute = 60_000;
const hour = 60 * minute;
const start = Date.parse('2026-01-01T00:00:00Z');
const weatherMs = 4 * hour;
// The longest waits are over by then.
const lengthMs = 8 * hour;
const names = ['shop', 'blog', 'cafe', 'docs'] as const;
const witnesses = [target('mail'), target('wiki')];

const policies: Readonly<Record<string, DeliveryPolicy>> = {
  alone,
  grouped,
  storm: { ...grouped, storm: { messages: 2, perMs: 20 * minute } },
  reminded: { ...grouped, remindMs: [30 * minute] },
  later: { ...grouped, afterMs: 10 * minute },
};

const period = fc
  .record({ at: fc.integer({ min: 3, max: 230 }), forMinutes: fc.integer({ min: 1, max: 90 }) })
  .map(({ at, forMinutes }) => ({ from: start + at * minute, until: start + (at + forMinutes) * minute }));
const days = fc.record({
  outages: fc.array(fc.record({ name: fc.constantFrom(...names), period }), { minLength: 1, maxLength: 8 }),
  restarts: fc.array(fc.integer({ min: 3, max: 240 }), { maxLength: 3 }),
  policy: fc.constantFrom(...Object.keys(policies)),
  other: fc.constantFrom(...Object.keys(policies)),
  critical: fc.boolean(),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
});
type Day = typeof days extends fc.Arbitrary<infer One> ? One : never;

interface Answer {
  /** When it was called, and when it answered. */
  readonly calledAt: number;
  readonly at: number;
  readonly attempt: Attempt;
  readonly receipt: DeliveryReceipt;
}

interface Step {
  readonly at: number;
  readonly act: () => void | Promise<void>;
}

async function live(day: Day): Promise<readonly string[]> {
  const faults: string[] = [];
  const random = seededRandom(day.seed);
  const recipients = ['ops', 'dev'].map((notify) => ({
    notify,
    channel: 'email',
    recipient: `${notify}@example.com`,
    severities: ['critical', 'warning', 'info'] as const,
  }));
  const rules = [rule('down', { severity: day.critical ? 'critical' : 'warning' })];
  const policyOf = ({ recipient }: { readonly recipient: string }) =>
    policies[recipient.startsWith('ops') ? day.policy : day.other] ?? alone;
  await using scenario = await startScenario({
    targets: [...names.map((name) => target(name, { recipients, rules })), ...witnesses],
    start: new Date(start).toISOString(),
    outbox: { policyOf },
  });
  const { clock, store, channel } = scenario;
  const answers: Answer[] = [];
  channel.answer = async (attempt) => {
    const calledAt = clock.now();
    const receipt = await answerOf(attempt);
    answers.push({ calledAt, at: clock.now(), attempt, receipt });
    return receipt;
  };

  async function answerOf(attempt: Attempt): Promise<DeliveryReceipt> {
    if (clock.now() > start + weatherMs) return accepted;
    const fate = random.next();
    if (fate < 0.45) return accepted;
    if (fate < 0.65) return { kind: 'retry', reason: '451 try again' };
    if (fate < 0.8) return { kind: 'retry', reason: '429', afterMs: Math.round(random.next() * 20 * minute) };
    if (fate < 0.9) return { kind: 'retry', reason: 'no answer', isUncertain: true };
    if (fate < 0.95) return refusedForGood;
    return hang(attempt);
  }

  const restarts = day.restarts.map((at) => start + at * minute + 1_000);
  const steps: readonly Step[] = [
    ...day.outages.flatMap(({ name, period: { from, until } }): readonly Step[] => [
      { at: from, act: () => scenario.see(name, 'd') },
      { at: until, act: () => scenario.see(name, 'u') },
    ]),
    ...restarts.map((at) => ({ at, act: async () => scenario.restart() })),
  ].toSorted((a, b) => a.at - b.at);
  for (const { at, act } of steps) {
    await clock.advance(Math.max(0, at - clock.now()));
    await act();
  }
  await clock.advance(start + lengthMs - clock.now());

  for (const { id, kind } of store.deliveries)
    if (store.states.get(id) === 'pending' && kind !== 'reminder') faults.push(`delivery ${id} (${kind}) is pending`);
  for (const incident of store.incidents.values()) {
    if (isAboutUs(incident.target)) continue;
    for (const { recipient } of recipients) {
      const own = answers.filter(
        ({ attempt }) =>
          attempt.recipient === recipient && attempt.message.incidents.some(({ id }) => id === incident.id),
      );
      const { afterMs = 0 } = policyOf({ recipient });
      const lastedMs = (incident.endedAt ?? Infinity) - incident.openedAt;
      const sure = own.filter(({ receipt }) => receipt.kind === 'delivered');
      const asOf = ({ attempt }: Answer) => attempt.message.incidents.find(({ id }) => id === incident.id);
      // What may have arrived is repeated as it was.
      const ends = sure.filter((one) => tellsEnds(one.attempt.message.kind) && asOf(one)?.endedAt !== null);
      const ids = (some: readonly Answer[]) => new Set(some.map(({ attempt }) => attempt.message.id)).size;
      const who = `${incident.id} to ${recipient}`;
      // What is over when it is refused for good is given up.
      const isGivenUp = incident.endedAt !== null && own.some(({ receipt }) => receipt.kind === 'rejected');
      if (sure.length === 0 && !isGivenUp && lastedMs > afterMs + 2 * minute) faults.push(`${who}: never told`);
      if (sure.length > 0 && ends.length === 0 && incident.endedAt !== null && !isGivenUp)
        faults.push(`${who}: its end was not told`);
      if (ids(ends) > 1) faults.push(`${who}: its end was told ${ids(ends)} times`);
      const begins = sure.filter((one) => one.attempt.message.kind === 'opened' && asOf(one)?.endedAt === null);
      if (ids(begins) > 1) faults.push(`${who}: its beginning was told ${ids(begins)} times`);
      const [end] = ends;
      if (end !== undefined && sure.some((one) => one.at > end.at && asOf(one)?.endedAt === null))
        faults.push(`${who}: after its end it was told to go on`);
    }
  }
  for (const { recipient } of recipients) {
    const own = answers.filter(({ attempt }) => attempt.recipient === recipient);
    for (const { at, receipt } of own) {
      if (receipt.kind !== 'retry' || receipt.afterMs === undefined) continue;
      const until = at + receipt.afterMs - 1_000;
      const early = own.filter(({ calledAt }) => calledAt > at && calledAt < until);
      for (const { calledAt } of early) {
        // A start tries everything once, and something critical waits for a minute.
        const isStart = restarts.some((restart) => restart >= at && restart <= calledAt);
        const isUrgent = day.critical && calledAt >= at + minute - 1_000;
        if (!isStart && !isUrgent)
          faults.push(`${recipient} was called ${calledAt - at} ms after it asked for ${receipt.afterMs}`);
      }
    }
  }
  return faults;
}

const tellsEnds = (kind: string) => ['resolved', 'closed', 'late', 'digest'].includes(kind);

const wanted = process.env['DAYS'];
const runs = wanted === undefined ? { numRuns: 20, seed: 1 } : { numRuns: Number(wanted) };

test('whatever a mail server answers, everybody hears of everything once, in its order', async () => {
  await fc.assert(
    fc.asyncProperty(days, async (day) => {
      expect(await live(day)).toEqual([]);
    }),
    { ...runs, interruptAfterTimeLimit: 200_000 },
  );
}, 300_000);
