import { expect, test } from 'vitest';
import type { IncidentDetail, PastDelivery } from '#history/incidents.ts';
import { timelineOf } from '#web/pages/incident-timeline.ts';
import { postMortemOf } from '#web/pages/post-mortem.ts';

const begun = Date.parse('2026-01-01T12:00:00Z');
const second = 1_000;

const sent = (id: number, recipient: string, more: Partial<PastDelivery> = {}): PastDelivery => ({
  id,
  kind: 'opened',
  number: 1,
  channel: 'email',
  recipient,
  state: 'sent',
  createdAt: begun + 60 * second,
  settledAt: begun + 62 * second,
  attempts: 1,
  lastError: null,
  ...more,
});

const incident: IncidentDetail = {
  id: 'shop/down/1',
  target: 'shop',
  rule: 'down',
  severity: 'critical',
  word: 'DOWN',
  wording: { is: 'is down', was: 'was down' },
  subject: 'http https://shop.example.com/',
  condition: 'more than half of the nodes failing',
  cause: 'status 500 | <b>oops</b>',
  startedAt: begun,
  openedAt: begun + 60 * second,
  endedAt: begun + 600 * second,
  closing: 'recovered',
  held: null,
  acknowledged: { at: begun + 300 * second, why: 'on it' },
  votes: [
    { node: 'de1', place: 'Frankfurt', status: 'down', seconds: null, address: null, code: 'status', message: 'a | b' },
  ],
  closingVotes: null,
  exclusions: [],
  evidence: [],
  laterCauses: [{ at: begun + 200 * second, cause: 'connection refused' }],
  timeline: [{ at: begun + 60 * second, status: 'down', up: 0, down: 1, unknown: 0 }],
  deliveries: [
    sent(1, 'ops@example.com'),
    sent(2, 'dev@example.com'),
    sent(3, 'lost@example.com', { state: 'dead', lastError: '550 no such user', settledAt: begun + 90 * second }),
    sent(4, 'ops@example.com', { kind: 'reminder', state: 'merged' }),
    sent(5, 'ops@example.com', { kind: 'resolved', state: 'pending', settledAt: null }),
  ],
};

test('the timeline has rounds, causes, notifications and people in one order', () => {
  const lines = timelineOf(incident).map(({ at, state, words, detail }) => [
    (at - begun) / second,
    state,
    words,
    detail,
  ]);
  expect(lines).toEqual([
    [0, null, 'first failing round', 'status 500 | <b>oops</b>'],
    [60, null, 'incident opened', null],
    [60, 'down', '1 down', null],
    [62, null, 'notification sent to ops@example.com (email), dev@example.com (email)', null],
    [90, null, 'notification could not be sent to lost@example.com (email)', '550 no such user'],
    [200, null, 'another cause', 'connection refused'],
    [300, null, 'acknowledged', 'on it'],
    [600, null, 'first good round; incident over', null],
  ]);
});

test('a suppressed incident says so where it opened, and one that was closed says why at its end', () => {
  const closed = { ...incident, held: 'maintenance until 13:00', closing: 'rule_removed' } as const;
  const lines = timelineOf(closed).map(({ words, detail }) => (detail === null ? words : `${words}: ${detail}`));
  expect(lines).toContain('incident opened, notification suppressed: maintenance until 13:00');
  expect(lines.at(-1)).toBe('closed: the rule was removed');
});

test('a post-mortem is Markdown in which text of a target is no markup', () => {
  const text = postMortemOf(
    { incident, now: begun + 700 * second },
    'https://status.example.com/incidents/shop/down/1',
  );
  expect(text).toContain('# shop was down for 10m: status 500 \\| \\<b\\>oops\\</b\\> from 1 of 1 node');
  expect(text).toContain('\n- **Ended**: 2026-01-01 12:10:00 UTC\n');
  expect(text).toContain('- 2026-01-01 12:01:30 UTC (+28s) notification could not be sent to');
  expect(text).toContain('| de1, Frankfurt | down | a \\| b |');
  expect(text).toContain('[shop/down/1](https://status.example.com/incidents/shop/down/1)');
  expect(text).toContain('## Root cause');
});

test('a post-mortem about Watchpost itself names what it is about once, and has no votes', () => {
  const own = { ...incident, target: 'own database', subject: 'the database /data/watchpost.db' };
  const text = postMortemOf({ incident: own, now: begun }, 'https://status.example.com/incidents/1');
  expect(text).toContain('**: the database /data/watchpost.db\n');
  expect(text).not.toContain('| --- |');
});
