import { expect, test } from 'vitest';
import { type IncidentAudit, startAudit, unreportedReason } from '#monitor/audit.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { shopDown } from '../../support/incidents.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { startScenario, target } from '../../support/scenario.ts';

const minute = 60_000;
const told = [{ channel: 'email', recipient: 'ops@example.com' }];
const held = { by: 'connectivity', why: 'our own connectivity is lost' } as const;
const { openedAt } = shopDown;

interface Case {
  readonly name: string;
  readonly incident: Partial<Incident>;
  readonly with?: Partial<IncidentAudit>;
  readonly minutes: number;
  readonly reason: string | null;
}

test.each<Case>([
  { name: 'it was notified', incident: { notified: told }, with: { deliveries: 1 }, minutes: 600, reason: null },
  { name: 'its notification is being made', incident: { notified: told }, minutes: 1, reason: null },
  { name: 'nobody wants to hear of it', incident: { notified: [] }, minutes: 600, reason: null },
  {
    name: 'somebody knows of it',
    incident: { notified: told, acknowledged: { at: openedAt, why: 'on it' } },
    minutes: 600,
    reason: null,
  },
  {
    name: 'its notifications are gone',
    incident: { notified: told },
    minutes: 3,
    reason: 'it was to be notified to 1 recipients, and no notification was made',
  },
  {
    name: 'whom it was to be told was not noted',
    incident: { notified: null },
    minutes: 3,
    reason: 'it was to be notified to its recipients, and no notification was made',
  },
  { name: 'what holds it back is explained', incident: { held }, minutes: 600, reason: null },
  { name: 'a doubt has its time', incident: { held }, with: { unexplainedSince: openedAt }, minutes: 11, reason: null },
  {
    name: 'a doubt that has had its time',
    incident: { held },
    with: { unexplainedSince: openedAt },
    minutes: 12,
    reason: 'held back by a doubt for 12m: our own connectivity is lost',
  },
  {
    name: 'a doubt about a warning has more',
    incident: { held, severity: 'warning' },
    with: { unexplainedSince: openedAt },
    minutes: 31,
    reason: null,
  },
])('$name', ({ incident, with: more, minutes, reason }) => {
  const audited = {
    incident: { ...shopDown, notified: [], ...incident },
    deliveries: 0,
    unexplainedSince: null,
    ...more,
  };
  expect(unreportedReason(audited, { now: openedAt + minutes * minute })).toBe(reason);
});

test('what it finds is logged once, notified, and counted while it is open', async () => {
  const clock = new FakeClock('2026-01-01T12:10:00Z');
  const log = memoryLog();
  const open: Incident[] = [{ ...shopDown, notified: told }];
  const notified: string[] = [];
  let deliveries = 0;
  using audit = startAudit({
    monitor: {
      openIncidents: () => open,
      isExplained: () => false,
      notify: (id) => void notified.push(id),
    },
    deliveriesOf: () => deliveries,
    doubtLimitMs: () => 300_000,
    clock,
    log: log.log,
  });
  await clock.advance(minute);
  deliveries = 1;
  await clock.advance(5 * minute);
  expect(notified).toEqual([shopDown.id]);
  expect(audit.unreported()).toEqual([shopDown.id]);
  expect(log.lines.map(({ msg, incident }) => [msg, incident])).toEqual([
    ['found an unreported incident; notifying now', shopDown.id],
  ]);
  open.length = 0;
  await clock.advance(minute);
  expect(audit.unreported()).toEqual([]);
});

test('an incident whose notifications were lost is notified within minutes, and its end too', async () => {
  await using scenario = await startScenario({ targets: [target('shop'), target('blog')], unreported: ['shop'] });
  await scenario.clock.advance(5 * minute);
  const record = scenario.store.record.bind(scenario.store);
  // Nothing of what follows is stored, as if somebody had deleted it.
  scenario.store.record = async (round) => record({ ...round, deliveries: [] });
  scenario.see('shop', 'd');
  await scenario.clock.advance(2 * minute);
  scenario.store.record = record;
  expect(scenario.channel.subjects).toEqual([]);
  await scenario.clock.advance(3 * minute);
  expect(scenario.channel.subjects).toEqual([expect.stringMatching(/^\[DOWN\] shop/)]);
  expect(scenario.channel.attempts[0]?.message.content.remarks).toContain(
    'This notification is late, for the audit found that no notification had been made.',
  );
  scenario.see('shop', 'u');
  await scenario.clock.advance(5 * minute);
  expect(scenario.channel.subjects[1]).toMatch(/^\[RESOLVED\] shop/);
});
