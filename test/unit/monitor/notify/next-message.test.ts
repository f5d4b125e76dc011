import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Delivery, PendingDelivery } from '#monitor/judge/delivery.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { type DeliveryPolicy, nextSlot, remindAfter } from '#monitor/notify/delivery-policy.ts';
import { severities } from '#monitor/judge/rules/kind.ts';
import { type NextMessage, nextMessage, type SentBefore, sortOf } from '#monitor/notify/next-message.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const start = shopDown.openedAt;

const policy: DeliveryPolicy = {
  grouping: { waitMs: 30 * second, intervalMs: 5 * minute },
  storm: { messages: 20, perMs: hour },
  remindMs: [hour, 4 * hour],
  zone: 'UTC',
};

let lastId = 0;

interface Written {
  readonly kind?: Delivery['kind'];
  readonly at?: number;
  readonly severity?: Incident['severity'];
  readonly ended?: boolean;
  readonly attempts?: number;
  readonly next?: number;
  readonly message?: string;
}

function row(
  target: string,
  { kind = 'opened', at = 0, severity = 'critical', ...rest }: Written = {},
): PendingDelivery {
  lastId += 1;
  const incident = {
    ...shopDown,
    id: `${target}/down/1`,
    target,
    severity,
    endedAt: rest.ended === true ? start + at : null,
  };
  const times = { createdAt: start + at, nextAttemptAt: start + (rest.next ?? at), attempts: rest.attempts ?? 0 };
  return {
    delivery: delivery({ id: lastId, incidentId: incident.id, kind, ...times }),
    incident,
    message: rest.message ?? null,
    root: null,
    unreached: [],
    isKnownToOthers: false,
    rootReference: null,
  };
}

function at(
  ms: number,
  rows: readonly PendingDelivery[],
  sent: readonly Omit<SentBefore, 'severity'>[] = [],
  wanted = policy,
): NextMessage {
  const before = sent.map(({ sort, at: ago }): SentBefore => ({ sort, severity: severityOf(sort), at: start + ago }));
  return nextMessage({ rows, sent: before }, wanted, start + ms);
}

const severityOf = (sort: string) => severities.find((severity) => sort.startsWith(severity)) ?? 'critical';

const told = (made: NextMessage) =>
  made.kind === 'send'
    ? `${made.reason}: ${made.parts.map((part) => `${part.incident.target} ${part.kind}`).join(', ')}`
    : '';
const waits = (made: NextMessage) =>
  made.kind === 'wait' ? `${made.reason} ${(made.until - start) / second}` : made.kind;

describe('a message', () => {
  test('waits for company first', () => {
    expect(waits(at(0, [row('a')]))).toBe('company 30');
    expect(told(at(30 * second, [row('a')]))).toBe('alone: a opened');
  });

  test('tells all that came while its first incident waited', () => {
    const rows = [row('a'), row('b', { at: 29 * second }), row('c', { at: 30 * second })];
    expect(told(at(30 * second, rows))).toBe('group: a opened, b opened, c opened');
  });

  test('follows the last of its sort after the interval at the earliest', () => {
    const sent = [{ sort: sortOf('opened', 'warning'), at: 0 }];
    const [a, b] = [
      row('a', { at: minute, severity: 'warning' }),
      row('b', { at: 5 * minute - 1, severity: 'warning' }),
    ];
    expect(waits(at(2 * minute, [a], sent))).toBe('interval 300');
    expect(told(at(5 * minute, [a, b], sent))).toBe('group: a opened, b opened');
  });

  test('about a critical beginning waits for its company only, whatever went out before', () => {
    const sent = [{ sort: sortOf('opened', 'critical'), at: 0 }];
    expect(waits(at(minute, [row('a', { at: minute })], sent))).toBe('company 90');
    expect(told(at(90 * second, [row('a', { at: minute })], sent))).toBe('alone: a opened');
    const end = row('a', { kind: 'resolved', at: minute, ended: true });
    expect(waits(at(2 * minute, [end], [{ sort: sortOf('resolved', 'critical'), at: 0 }]))).toBe('interval 300');
  });

  test('of one severity does not hold up one of another', () => {
    const sent = [{ sort: sortOf('opened', 'warning'), at: 0 }];
    const rows = [row('w', { severity: 'warning', at: minute }), row('c', { at: minute })];
    expect(told(at(90 * second, rows, sent))).toBe('alone: c opened');
  });

  test('of a beginning does not hold up one of an end', () => {
    const sent = [{ sort: sortOf('opened', 'critical'), at: 0 }];
    const rows = [row('a', { kind: 'resolved', at: minute, ended: true })];
    expect(told(at(90 * second, rows, sent))).toBe('alone: a resolved');
  });

  test('of two hundred incidents is one, and so is that of their ends', () => {
    const targets = Array.from({ length: 200 }, (_, index) => `t${index}`);
    const down = at(
      30 * second,
      targets.map((target, index) => row(target, { at: index * 100 })),
    );
    const sent = [{ sort: sortOf('opened', 'critical'), at: 30 * second }];
    const up = at(
      20 * minute,
      targets.map((target) => row(target, { kind: 'resolved', at: 19 * minute, ended: true })),
      sent,
    );
    expect([down, up].map((made) => made.kind === 'send' && made.parts.length)).toEqual([200, 200]);
  });

  test('goes at once and alone where incidents are not to share', () => {
    const wanted = { ...policy, grouping: null };
    const sent = [{ sort: 'critical opened', at: 0 }];
    expect(told(at(0, [row('a'), row('b')], sent, wanted))).toBe('alone: a opened');
  });

  test('goes at once where it was made before the clock was set back', () => {
    expect(told(at(0, [row('a', { at: hour, next: 0 })]))).toBe('alone: a opened');
  });
});

describe('an incident', () => {
  test('that is over before its beginning was told makes one part of both', () => {
    const rows = [row('a', { ended: true }), row('a', { kind: 'resolved', at: minute, ended: true })];
    expect(told(at(minute, rows))).toBe('alone: a late');
  });

  test('whose beginning waits for its next attempt is told at once when it ends', () => {
    const rows = [
      row('a', { ended: true, attempts: 5, next: hour }),
      row('a', { kind: 'resolved', at: minute, ended: true }),
    ];
    expect(waits(at(minute, rows))).toBe('company 90');
    expect(told(at(90 * second, rows))).toBe('alone: a late');
  });

  test('is reminded of when the reminder is due, not before', () => {
    const rows = [row('a', { kind: 'reminder', at: hour })];
    expect(waits(at(0, rows))).toBe('nothing 3600');
    expect(waits(at(hour, rows))).toBe('company 3630');
    expect(told(at(hour + 30 * second, rows))).toBe('alone: a reminder');
  });

  test('that is over is not reminded of', () => {
    const rows = [row('a', { kind: 'reminder', at: hour, ended: true })];
    expect(at(0, rows)).toMatchObject({ kind: 'drop', reason: 'over' });
  });

  test('that ends takes its reminder along', () => {
    const rows = [
      row('a', { kind: 'reminder', at: 4 * hour, ended: true }),
      row('a', { kind: 'resolved', at: 0, ended: true }),
    ];
    const made = at(30 * second, rows);
    expect(told(made)).toBe('alone: a resolved');
    expect(made.kind === 'send' && made.parts[0].merged.map(({ kind }) => kind)).toEqual(['reminder']);
  });
});

test('the end of an incident waits for no repetition of a reminder', () => {
  const rows = [
    row('a', { kind: 'reminder', message: 'm1', ended: true, attempts: 1, next: 40 * second }),
    row('a', { kind: 'resolved', ended: true }),
  ];
  const made = at(30 * second, rows);
  expect(told(made)).toBe('alone: a resolved');
  expect(made.kind === 'send' && made.parts[0].merged.map(({ kind }) => kind)).toEqual(['reminder']);
});

describe('a message that may have arrived', () => {
  const rows = [
    row('a', { message: 'm1', ended: true, attempts: 1, next: minute }),
    row('b', { message: 'm1', attempts: 1, next: minute }),
    row('a', { kind: 'resolved', at: 10 * second, ended: true }),
    row('c', { at: 10 * second }),
  ];

  test('is repeated as it was, before anything else about its incidents', () => {
    const made = at(minute, rows);
    expect(told(made)).toBe('repeat: a opened, b opened');
    expect(made).toMatchObject({ message: 'm1' });
  });

  test('does not hold up other incidents until then', () => {
    expect(told(at(40 * second, rows))).toBe('alone: c opened');
  });
});

describe('a storm', () => {
  const wanted = { ...policy, storm: { messages: 4, perMs: hour } };
  const sent = [0, 1].map((index) => ({ sort: 'warning opened', at: index * minute }));

  test('is told in one digest of all sorts as soon as a message may go again', () => {
    const rows = [
      row('a', { at: 3 * minute, severity: 'warning' }),
      row('b', { at: 4 * minute, severity: 'warning' }),
      row('c', { kind: 'resolved', at: 5 * minute, ended: true, severity: 'warning' }),
    ];
    const waiting = at(10 * minute, rows, sent, wanted);
    expect(waiting).toMatchObject({ kind: 'wait', reason: 'storm' });
    const until = waiting.kind === 'wait' ? waiting.until - start : 0;
    expect(until).toBeLessThan(hour);
    expect(told(at(until, rows, sent, wanted))).toBe('digest: a opened, b opened, c resolved');
  });

  test('of warnings delays nothing critical, and one of critical messages no beginning: that comes with everything else', () => {
    const many = (severity: string) =>
      Array.from({ length: 20 }, (_, index) => ({ sort: `${severity} opened`, at: index * second }));
    const rows = [row('a', { at: 3 * minute }), row('b', { at: 4 * minute, severity: 'warning' })];
    const after = 3 * minute + 30 * second;
    expect(told(at(after, rows, many('warning'), wanted))).toBe('alone: a opened');
    expect(told(at(after, rows, many('critical'), wanted))).toBe('digest: a opened, b opened');
    const last = many('critical').map((one) => ({ ...one, at: one.at + 3 * minute }));
    expect(waits(at(after, rows, last, wanted))).toBe('storm 229');
  });

  test('never brings more messages than were asked for in any stretch of the length', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 20 * minute }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 12 }), (wishes, messages) => {
        const storm = { messages, perMs: hour };
        const times: number[] = [];
        let now = 0;
        for (const gap of wishes) {
          now = Math.max(now + gap, nextSlot(storm, times));
          times.push(now);
        }
        for (const time of times) {
          expect(times.filter((other) => other >= time && other < time + hour).length).toBeLessThanOrEqual(messages);
        }
      }),
    );
  });

  test('does not touch the calm', () => {
    expect(nextSlot(policy.storm, [])).toBe(Number.NEGATIVE_INFINITY);
    expect(nextSlot(policy.storm, [1, 2, 3])).toBe(Number.NEGATIVE_INFINITY);
  });
});

test('whatever waits is told, dropped, or waited for until a time to come', () => {
  const kinds = fc.constantFrom<Delivery['kind']>('opened', 'reminder', 'resolved', 'closed');
  const written = fc.record({
    target: fc.constantFrom('a', 'b', 'c'),
    kind: kinds,
    at: fc.integer({ min: -hour, max: hour }),
    next: fc.integer({ min: -hour, max: hour }),
    attempts: fc.integer({ min: 0, max: 3 }),
    severity: fc.constantFrom<Incident['severity']>('critical', 'warning'),
    message: fc.constantFrom('', 'm1', 'm2'),
  });
  fc.assert(
    fc.property(
      fc.array(written, { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: -hour, max: 0 })),
      (all, before) => {
        const ended = new Set(all.filter(({ kind }) => kind === 'resolved').map(({ target }) => target));
        const rows = all.map(({ target, message, ...one }) =>
          row(target, { ...one, ended: ended.has(target), ...(message === '' ? {} : { message }) }),
        );
        const sent = before.toSorted((a, b) => a - b).map((time) => ({ sort: 'critical opened', at: time }));
        const made = at(0, rows, sent);
        if (made.kind === 'wait') expect(made.until).toBeGreaterThan(start);
        else if (made.kind === 'drop') expect(made.rows.length).toBeGreaterThan(0);
        else {
          const ids = made.parts.flatMap((part) => [part.sent, ...part.merged]).map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
        }
      },
    ),
  );
});

test('reminders follow each other at the waits that were asked for, the last of which repeats', () => {
  expect([0, 1, 2, 9].map((number) => remindAfter(policy, number))).toEqual([hour, 4 * hour, 4 * hour, 4 * hour]);
  expect(remindAfter({ ...policy, remindMs: [] }, 0)).toBeNull();
});
