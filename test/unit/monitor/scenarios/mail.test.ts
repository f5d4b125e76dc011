import { expect, test } from 'vitest';
import type { DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import {
  accepted,
  type Attempt,
  hang,
  ignoreEverything,
  refusedForGood,
  refusedForNow,
} from '../../../support/recording-channel.ts';
import { type Scenario, startScenario, target } from '../../../support/scenario.ts';

const minute = 60_000;
const lost: DeliveryReceipt = { kind: 'retry', reason: 'the connection broke after the mail', isUncertain: true };

const policy: DeliveryPolicy = {
  // Longer than the minute over which the checks are spread.
  grouping: { waitMs: 70_000, intervalMs: 5 * minute },
  storm: { messages: 20, perMs: 60 * minute },
  remindMs: [60 * minute],
  zone: 'UTC',
};

/** Targets that have nothing to do with the gateway: where everything fails, it is our own connectivity. */
const elsewhere = Array.from({ length: 50 }, (_, index) => `elsewhere${index}`);

interface Row {
  readonly minute: number;
  /** What the nodes see from now on. */
  readonly see?: Readonly<Record<string, string>>;
  /** What the mail server does from now on. */
  readonly mail?: (attempt: Attempt) => DeliveryReceipt | Promise<DeliveryReceipt>;
  /** The program ends and starts again. */
  readonly restart?: true;
  /** What must arrive until the next row: subjects, by their beginnings. */
  readonly arrive?: readonly string[];
}

interface Case {
  readonly name: string;
  readonly targets?: readonly string[];
  readonly rows: readonly Row[];
  /** How the deliveries must have ended, by kind. */
  readonly states: Readonly<Record<string, string>>;
}

test.each<Case>([
  {
    name: 'a mail server that works',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, arrive: ['[DOWN] shop'] },
      { minute: 15, see: { shop: 'u' }, arrive: ['[RESOLVED] shop'] },
      { minute: 30 },
    ],
    states: { opened: 'sent', resolved: 'sent', reminder: 'merged' },
  },
  {
    name: 'a mail server that is away for the whole outage: one mail tells it all',
    rows: [
      { minute: 0, mail: () => refusedForNow },
      { minute: 5, see: { shop: 'd' } },
      { minute: 15, see: { shop: 'u' } },
      { minute: 600, mail: () => accepted, arrive: ['[RESOLVED] shop: was down'] },
      { minute: 620 },
    ],
    states: { opened: 'sent', resolved: 'merged' },
  },
  {
    name: 'a mail server that goes away between the beginning and the end',
    rows: [
      { minute: 0 },
      { minute: 5, see: { shop: 'd' }, arrive: ['[DOWN] shop'] },
      { minute: 10, mail: () => refusedForNow },
      { minute: 15, see: { shop: 'u' } },
      { minute: 500, mail: () => accepted, arrive: ['[RESOLVED] shop: up again'] },
      { minute: 520 },
    ],
    states: { opened: 'sent', resolved: 'sent', reminder: 'merged' },
  },
  {
    name: 'a mail server that hangs, over a restart',
    rows: [
      { minute: 0, mail: hang },
      { minute: 5, see: { shop: 'd' } },
      { minute: 20, restart: true },
      { minute: 40, mail: () => accepted, arrive: ['[DOWN] shop'] },
      { minute: 50 },
    ],
    states: { opened: 'sent', reminder: 'pending' },
  },
  {
    name: 'a channel that never answers and cannot be stopped',
    rows: [
      { minute: 0, mail: ignoreEverything },
      { minute: 5, see: { shop: 'd' } },
      { minute: 30, mail: () => accepted, arrive: ['[DOWN] shop'] },
      { minute: 50 },
    ],
    states: { opened: 'sent', reminder: 'pending' },
  },
  {
    name: 'a mail server that greylists takes the mail later',
    rows: [
      { minute: 0, mail: greylisting(5 * minute) },
      { minute: 5, see: { shop: 'd' }, arrive: ['[DOWN] shop'] },
      { minute: 30 },
    ],
    states: { opened: 'sent', reminder: 'pending' },
  },
  {
    name: 'a mail server that refuses for good: the news waits, and one mail tells the whole',
    rows: [
      { minute: 0, mail: () => refusedForGood },
      { minute: 5, see: { shop: 'd' } },
      { minute: 15, mail: () => accepted },
      { minute: 20, see: { shop: 'u' }, arrive: ['[RESOLVED] shop: was down'] },
      { minute: 30 },
    ],
    states: { opened: 'sent', resolved: 'merged' },
  },
  {
    name: 'a connection that breaks after every mail: the same mail again, and then the end',
    rows: [
      { minute: 0, mail: () => lost },
      { minute: 5, see: { shop: 'd' } },
      { minute: 15, see: { shop: 'u' } },
      { minute: 60, mail: () => accepted, arrive: ['[DOWN] shop', '[RESOLVED] shop: up again'] },
      { minute: 90 },
    ],
    states: { opened: 'sent', resolved: 'sent' },
  },
  {
    name: 'two hundred targets behind one dead gateway, without dependencies: one mail down, one mail up',
    targets: [...elsewhere, ...Array.from({ length: 200 }, (_, index) => `t${index}`)],
    rows: [
      { minute: 0, see: Object.fromEntries(elsewhere.map((name) => [name, 'u'])) },
      { minute: 1, see: { '*': 'd' }, arrive: ['[DOWN] 200 targets are down'] },
      { minute: 6, see: { '*': 'u' }, arrive: ['[RESOLVED] 200 targets are up again'] },
      { minute: 12 },
    ],
    states: { opened: 'sent', resolved: 'sent', reminder: 'merged' },
  },
])('$name', async ({ targets = ['shop'], rows, states }) => {
  await using scenario = await startScenario({
    targets: targets.map((name) => target(name)),
    outbox: { policyOf: () => policy },
  });
  const arrived: string[] = [];
  const seen: (readonly string[])[] = [];
  let answer: NonNullable<Row['mail']> = () => accepted;
  scenario.channel.answer = async (attempt) => {
    const receipt = await answer(attempt);
    if (receipt.kind === 'delivered') arrived.push(attempt.message.content.subject);
    return receipt;
  };
  for (const [index, row] of rows.entries()) {
    if (row.mail !== undefined) answer = row.mail;
    for (const [name, sight] of Object.entries(row.see ?? {})) scenario.see(name, sight);
    if (row.restart === true) await scenario.restart();
    const before = arrived.length;
    await scenario.clock.advance(((rows[index + 1]?.minute ?? row.minute) - row.minute) * minute);
    seen.push(arrived.slice(before));
  }
  expect(seen).toEqual(
    rows.map(({ arrive = [] }) =>
      arrive.map((beginning) => expect.stringMatching(new RegExp(`^${quoted(beginning)}`))),
    ),
  );
  expect(statesOf(scenario)).toEqual(states);
  const repeats = new Map<string, Set<string>>();
  for (const { message } of scenario.channel.attempts) {
    const about = JSON.stringify([message.kind, message.incidents.map(({ id }) => id)]);
    repeats.set(about, (repeats.get(about) ?? new Set()).add(message.id));
  }
  for (const ids of repeats.values()) expect(ids.size).toBe(1);
});

test('a mail server that hangs changes no start of a check', async () => {
  const starts: (readonly string[])[] = [];
  for (const answer of [() => accepted, hang, ignoreEverything]) {
    await using scenario = await startScenario({
      targets: Array.from({ length: 20 }, (_, index) => target(`t${index}`)),
      outbox: { policyOf: () => ({ ...policy, grouping: null }) },
    });
    scenario.channel.answer = answer;
    scenario.see('*', 'd');
    scenario.see('t0', 'u');
    await scenario.clock.advance(20 * minute);
    expect(scenario.channel.attempts.length).toBeGreaterThan(5);
    starts.push(scenario.runs.map(({ at, target: name }) => `${at} ${name}`));
    // Nothing may be on its way at the end: there is nobody to wait for it.
    scenario.channel.answer = () => accepted;
    await scenario.clock.advance(2 * minute);
  }
  expect(starts[0]?.length).toBeGreaterThan(400);
  expect(starts[1]).toEqual(starts[0]);
  expect(starts[2]).toEqual(starts[0]);
});

function greylisting(afterMs: number): NonNullable<Row['mail']> {
  const seen = new Set<string>();
  return ({ message: { id } }) => {
    if (seen.has(id)) return accepted;
    seen.add(id);
    return { kind: 'retry', reason: '450 greylisted', afterMs };
  };
}

function statesOf({ store }: Scenario): Record<string, string> {
  return Object.fromEntries([...store.states].map(([id, state]) => [store.get(id).kind, state]));
}

const quoted = (text: string) => text.replaceAll(/[[\]().*+?^$|\\]/g, '\\$&');
