import { expect, test } from 'vitest';
import type { IncidentDetail, PastDelivery } from '#history/incidents.ts';
import type { PastRound } from '#history/reader.ts';
import { roundsOf } from '#web/pages/history-values.ts';
import { incidentContent } from '#web/pages/incident.ts';

const minute = 60_000;
const begun = Date.parse('2026-01-01T12:00:00Z');

/** A round a minute from two hours before the incident on. */
const reader = {
  async rounds(_: string, { before = 0, limit }: { readonly before?: number; readonly limit: number }) {
    const newest = Math.ceil(before / minute) * minute - minute;
    const dues = Array.from({ length: limit }, (_, index) => newest - index * minute);
    return dues.filter((dueAt) => dueAt >= begun - 120 * minute).map((dueAt) => round(dueAt));
  },
};

const round = (dueAt: number): PastRound => ({
  dueAt,
  status: 'down',
  votes: [{ node: 'de1', status: 'down', seconds: null, failure: null, lateAt: null }],
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
  cause: 'connection refused',
  startedAt: begun,
  openedAt: begun + minute,
  endedAt: null,
  closing: null,
  held: null,
  acknowledged: null,
  votes: [],
  closingVotes: null,
  evidence: [],
  exclusions: [],
  laterCauses: [],
  timeline: [],
  deliveries: [],
};

const pageOf = (more: Partial<IncidentDetail>, rounds: readonly (readonly PastRound[])[]) =>
  String(
    incidentContent({
      now: begun + 600 * minute,
      incident: { ...incident, ...more },
      rounds,
      silence: null,
      mayAct: false,
    }),
  );

test('of a long incident the first rounds are shown and the last, and how long it was between them is said', async () => {
  const [last = [], first = []] = await roundsOf(reader, incident, begun + 600 * minute);
  expect([last.at(0)?.dueAt, last.length]).toEqual([begun + 600 * minute, 30]);
  expect(first.length).toBe(30);
  expect(first.at(-1)?.dueAt).toBeLessThan(begun);
  expect(first.some(({ dueAt }) => dueAt === begun + minute)).toBe(true);
  const page = pageOf({}, [last, first]);
  expect(page).toContain('The rounds of 9h 9m in between are left out here.');
  expect(page.indexOf(new Date(first.at(-1)?.dueAt ?? 0).toISOString())).toBeLessThan(
    page.indexOf(new Date(last.at(-1)?.dueAt ?? 0).toISOString()),
  );
});

test.for([
  { minutes: 5, rounds: 60 },
  { minutes: 51, rounds: 60 },
])('an incident of $minutes minutes is shown whole', async ({ minutes, rounds }) => {
  const found = await roundsOf(reader, incident, begun + minutes * minute);
  expect(found.map(({ length }) => length)).toEqual([rounds]);
  expect(found[0]?.some(({ dueAt }) => dueAt === begun)).toBe(true);
  expect(pageOf({}, found)).not.toContain('left out');
});

test('where no round is kept any more, that is said', async () => {
  const nothing = { rounds: async () => [] };
  expect(await roundsOf(nothing, incident, begun + minute)).toEqual([]);
  expect(pageOf({}, [])).toContain('The results of these rounds have been deleted.');
});

const delivery: PastDelivery = {
  id: 1,
  kind: 'reminder',
  number: 1,
  channel: 'email',
  recipient: 'ops@example.com',
  state: 'merged',
  createdAt: begun,
  settledAt: begun + 10 * minute,
  attempts: 0,
  lastError: null,
};

test.for([
  { name: 'a reminder that was not needed any more', more: {}, word: 'was not needed' },
  { name: 'a reminder in another message meanwhile', more: { settledAt: begun + minute }, word: 'sent with another' },
  { name: 'an end in another message', more: { kind: 'resolved' as const }, word: 'sent with another' },
])('$name is told as $word', ({ more, word }) => {
  const page = pageOf({ endedAt: begun + 9 * minute, deliveries: [{ ...delivery, ...more }] }, []);
  expect(['was not needed', 'sent with another'].filter((one) => page.includes(one))).toEqual([word]);
});

test('a silence is told with its reason and its end', () => {
  const rounds: PastRound[][] = [];
  const silence = { why: '<b>we know</b>', until: begun };
  const page = String(incidentContent({ now: begun, incident, rounds, silence, mayAct: true }));
  expect(page).toContain('&lt;b&gt;we know&lt;/b&gt;</bdi>, until <time datetime="2026-01-01T12:00:00.000Z"');
  expect(pageOf({}, [])).not.toContain('Silenced');
});

test('an incident of which nobody knows whether it is down does not look like down', () => {
  const shape = (word: string) => /<h1><span class="state (\w+)/.exec(pageOf({ word }, []))?.[1];
  expect([shape('DOWN'), shape('UNKNOWN')]).toEqual(['down', 'unknown']);
});

test('the page of an incident of our own says what is wrong, and has neither votes nor a page of a target', () => {
  const own = {
    id: 'own overload/overload/1',
    target: 'own overload',
    word: 'OVERLOADED',
    wording: { is: 'is overloaded', was: 'was overloaded' },
    subject: 'Watchpost',
    cause: '812 rounds of healthy targets left out in the last minute',
  };
  const open = pageOf(own, []);
  expect(open).toContain(
    'Watchpost is overloaded, for 10h now: 812 rounds of healthy targets left out in the last minute.',
  );
  expect(open).toContain('<p class="lead"><bdi>Watchpost</bdi></p>');
  expect(open).not.toContain('/targets/');
  expect(open).not.toContain('Votes');
  expect(open).not.toContain('round;');
  const actions = String(
    incidentContent({ now: begun, incident: { ...incident, ...own }, rounds: [], silence: null, mayAct: true }),
  );
  expect(actions).toContain('action="/actions/acknowledge"');
  expect(actions).not.toContain('action="/actions/silence"');
  expect(pageOf({ ...own, endedAt: begun + 60 * minute, closing: 'recovered' }, [])).toContain(
    'Watchpost was overloaded, for 1h: 812 rounds',
  );
});
