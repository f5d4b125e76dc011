import { describe, expect, test } from 'vitest';
import type { Delivery, PendingDelivery } from '#monitor/judge/delivery.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import { nextMessage } from '#monitor/notify/next-message.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';
import { alone } from '../../../support/policies.ts';

const minute = 60_000;
const hour = 60 * minute;
// A Thursday, 13:01:30 in Berlin.
const start = shopDown.openedAt;

interface Written {
  readonly kind: Delivery['kind'];
  readonly at?: number;
  readonly next?: number;
  readonly attempts?: number;
  readonly root?: string;
}

function rowsOf(incident: Partial<Incident>, written: readonly Written[]): readonly PendingDelivery[] {
  return written.map(({ kind, at = 0, next = at, attempts = 0, root = null }, index) => ({
    delivery: delivery({ id: index + 1, kind, createdAt: start + at, nextAttemptAt: start + next, attempts }),
    incident: { ...shopDown, ...incident },
    message: null,
    root,
    rootReference: null,
    unreached: [],
    isKnownToOthers: false,
  }));
}

function at(ms: number, policy: Partial<DeliveryPolicy>, rows: readonly PendingDelivery[]): string {
  const next = nextMessage({ rows, sent: [] }, { ...alone, ...policy }, start + ms);
  if (next.kind === 'send') return `tells ${next.parts.map(({ kind }) => kind).join(', ')}`;
  return next.kind === 'drop' ? 'drops' : `waits for ${next.reason} until ${(next.until - start) / minute}`;
}

const over = (ms: number): Partial<Incident> => ({ endedAt: start + ms });
const acknowledged: Partial<Incident> = { acknowledged: { at: start + minute, why: 'on it' } };
const opened: Written = { kind: 'opened' };

describe('somebody who is told after 15 minutes', () => {
  const policy = { afterMs: 15 * minute };

  test.each([
    { name: 'waits for them', ms: 14 * minute, incident: {}, rows: [opened], does: 'waits for escalation until 15' },
    { name: 'is told when they are over', ms: 15 * minute, incident: {}, rows: [opened], does: 'tells opened' },
    {
      name: 'is not told of what somebody knows',
      ms: 2 * minute,
      incident: acknowledged,
      rows: [opened],
      does: 'drops',
    },
    {
      name: 'is not told of what somebody knows by then',
      ms: 20 * minute,
      incident: acknowledged,
      rows: [opened],
      does: 'drops',
    },
    {
      name: 'is not told of what was over before, nor that it is',
      ms: 20 * minute,
      incident: over(9 * minute),
      rows: [opened, { kind: 'resolved', at: 10 * minute }] as const,
      does: 'drops',
    },
    {
      name: 'is told the whole story where they should have been told before it was over',
      ms: 21 * minute,
      incident: over(19 * minute),
      rows: [
        { ...opened, attempts: 3 },
        { kind: 'resolved', at: 20 * minute },
      ] as const,
      does: 'tells late',
    },
    {
      name: 'is told that it is over where they were told that it began',
      ms: 30 * minute,
      incident: over(29 * minute),
      rows: [{ kind: 'resolved', at: 30 * minute, root: 'm1' }] as const,
      does: 'tells resolved',
    },
    {
      name: 'is not told that it is over where they were not told that it began',
      ms: 30 * minute,
      incident: over(29 * minute),
      rows: [{ kind: 'resolved', at: 30 * minute }] as const,
      does: 'drops',
    },
    {
      name: 'is told at once what was made before the clock was set back',
      ms: 0,
      incident: {},
      rows: [{ kind: 'opened', at: 5 * hour, next: 0 }] as const,
      does: 'tells opened',
    },
  ])('$name', ({ ms, incident, rows, does }) => {
    expect(at(ms, policy, rowsOf(incident, rows))).toBe(does);
  });

  test('hears of other incidents meanwhile', () => {
    const later = rowsOf({}, [opened]);
    const due = rowsOf({ id: 'blog/down/1', target: 'blog' }, [{ kind: 'opened', at: -20 * minute }]).map((row) => ({
      ...row,
      delivery: { ...row.delivery, incidentId: 'blog/down/1', id: 9 },
    }));
    expect(at(0, policy, [...later, ...due])).toBe('tells opened');
  });
});

describe('somebody with hours', () => {
  const evening = { hours: { zone: 'Europe/Berlin', ranges: [{ days: [4], from: 15 * 60, to: 18 * 60 }] } };
  const until = 118.5;

  test.each([
    { name: 'waits for them', ms: 0, incident: {}, rows: [opened], does: `waits for hours until ${until}` },
    { name: 'is told when they begin', ms: 119 * minute, incident: {}, rows: [opened], does: 'tells opened' },
    {
      name: 'is not told of what is over by then',
      ms: 119 * minute,
      incident: over(hour),
      rows: [opened, { kind: 'resolved', at: hour }] as const,
      does: 'drops',
    },
    {
      name: 'is not told of what somebody knows by then',
      ms: 119 * minute,
      incident: acknowledged,
      rows: [opened],
      does: 'drops',
    },
    {
      name: 'is told within hours of what began and ended in them',
      ms: 130 * minute,
      incident: over(125 * minute),
      rows: [
        { kind: 'opened', at: 120 * minute },
        { kind: 'resolved', at: 125 * minute },
      ] as const,
      does: 'tells late',
    },
    {
      name: 'is told of the end of what they know when their hours begin',
      ms: 0,
      incident: over(-minute),
      rows: [{ kind: 'resolved', root: 'm1' }] as const,
      does: `waits for hours until ${until}`,
    },
    {
      name: 'is not reminded outside them',
      ms: 0,
      incident: {},
      rows: [{ kind: 'reminder', root: 'm1' }] as const,
      does: `waits for hours until ${until}`,
    },
  ])('$name', ({ ms, incident, rows, does }) => {
    expect(at(ms, evening, rowsOf(incident, rows))).toBe(does);
  });
});

test('whoever wishes neither is told at once', () => {
  expect(at(0, {}, rowsOf({}, [opened]))).toBe('tells opened');
  expect(at(0, {}, rowsOf(over(0), [{ kind: 'resolved' }]))).toBe('tells resolved');
});
