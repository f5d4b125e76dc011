import { expect, test } from 'vitest';
import {
  type Incident,
  ownBudget,
  ownClock,
  ownDatabase,
  ownHub,
  ownLeader,
  ownNats,
  ownNodeOverload,
  ownOverload,
} from '#monitor/judge/incident.ts';
import {
  absenceIncident,
  backlogIncident,
  connectivityIncident,
  nodeIncident,
  serviceIncident,
  type Trouble,
  troubleIncident,
} from '#monitor/suppress/own-incident-kinds.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';
import { compose } from '../../../support/mails.ts';
import { nodeInfo } from '../../../support/votes.ts';

const since = Date.parse('2026-01-01T12:00:00Z');
const now = since + 60_000;
const node = { ...nodeInfo('de1'), city: 'Frankfurt' };
const trouble = (name: Trouble['name'], which: string, reason: string) =>
  troubleIncident({ name, which, since, reason }, reason, now);

const kinds: readonly (readonly [Incident, name: string, opened: string, over: string])[] = [
  [
    trouble(ownOverload, 'Watchpost', '812 rounds of healthy targets left out in the last minute'),
    'Watchpost',
    'Watchpost is overloaded: 812 rounds of healthy targets left out in the last minute',
    'Watchpost is keeping up again after 10m',
  ],
  [
    trouble(ownNodeOverload, 'de1', 'de1 left out 1204 checks in the last minute'),
    'nodes',
    'Node de1 is overloaded: de1 left out 1204 checks in the last minute',
    'Node de1 is keeping up again after 10m',
  ],
  [
    trouble(ownBudget, 'what nodes send', 'node de1 sends more than 8 MB a second'),
    'nodes',
    'What nodes send is throttled: node de1 sends more than 8 MB a second',
    'What nodes send is read in full again after 10m',
  ],
  [
    trouble(ownDatabase, '/data/watchpost.db', 'disk full'),
    'Watchpost database',
    'The database /data/watchpost.db cannot be written: disk full',
    'The database /data/watchpost.db is writable again after 10m',
  ],
  [
    trouble(ownNats, 'tls://nats.example.com:4222', 'connection refused'),
    'Watchpost NATS',
    'The connection to NATS at tls://nats.example.com:4222 is lost: connection refused',
    'The connection to NATS at tls://nats.example.com:4222 is back after 10m',
  ],
  [
    trouble(ownLeader, 'fra', 'it reaches one of three hubs'),
    'hubs',
    'Hub fra sees no leader: it reaches one of three hubs',
    'Hub fra is in contact with a leader again after 10m',
  ],
  [
    trouble(`${ownHub}fra`, 'fra', 'it does not answer'),
    'hub fra',
    'Hub fra is degraded: it does not answer',
    'Hub fra is healthy again after 10m',
  ],
  [
    trouble(ownClock, 'of this machine', 'it was set forward by 2h'),
    'system clock',
    'The clock of this machine was set: it was set forward by 2h',
    'The clock of this machine is steady after 10m',
  ],
  [
    absenceIncident(node, since, 'it is not connected', now),
    'node de1',
    'Node de1 in Frankfurt is offline: it is not connected',
    'Node de1 in Frankfurt is back after 10m',
  ],
  [
    nodeIncident({ kind: 'suspected', node, since, targets: ['shop', 'blog'] }, now),
    'node de1',
    'Node de1 in Frankfurt is suspected: it sees shop, blog down, other nodes see them up',
    'Node de1 in Frankfurt is trusted again after 10m',
  ],
  [
    serviceIncident('https://checks.example.com', since, 'connection refused', now),
    'check service',
    'The check service https://checks.example.com cannot be reached: connection refused',
    'The check service https://checks.example.com is reachable again after 10m',
  ],
  [
    connectivityIncident({ kind: 'lost', since, targets: ['shop'], sawDown: true }, now),
    'network connectivity',
    'The network connectivity of every node is lost: every node sees everything down: shop',
    'The network connectivity of every node is back after 10m',
  ],
];

const over = { endedAt: since + 600_000, closing: 'recovered' } as const;

const named = kinds.map(([incident, name, opened, resolved]) => ({ name, incident, opened, resolved }));

test.each(named)('a message about $name says what is wrong', ({ name, incident, opened, resolved }) => {
  const { content } = compose(incident, [delivery()]);
  expect(content.headline).toBe(opened);
  expect(content.subject).toBe(`[${incident.wording.word}] ${name}: ${incident.cause}`);
  const reminder = compose(incident, [delivery({ kind: 'reminder', createdAt: since + 600_000 })]);
  expect(reminder.content.headline).toMatch(/ still .* after 10m: /);
  expect(compose({ ...incident, ...over }, [delivery({ kind: 'resolved' })]).content.headline).toBe(resolved);
  // What to do about it is not cut off.
  expect(content.facts.find(([label]) => label === 'Rule')?.[1]).toMatch(/[^…]$/);
});

test('results that came too late are one message about the time', () => {
  const unjudged = { from: since, until: over.endedAt, targets: 3, dropped: [{ node: 'de1', count: 12 }] };
  const incident = { ...backlogIncident(unjudged, now), ...over };
  const { headline, facts } = compose(incident, [delivery(), delivery({ id: 2, kind: 'resolved' })]).content;
  expect(headline).toBe(
    'Watchpost could not judge part of what nodes saw 2026-01-01 12:00 to 12:10 UTC and is judging again',
  );
  const cause = 'what was seen of 3 targets came too late to be judged; de1 dropped 12 results';
  expect(facts).toContainEqual(['Cause', cause]);
});

test('the name of a target is never changed', () => {
  const incident = { ...shopDown, target: 'own overload of mine' };
  const { headline, subject } = compose(incident, [delivery()]).content;
  expect(headline).toMatch(/^own overload of mine is down: /);
  expect(subject).toMatch(/^\[DOWN\] own overload of mine: /);
});
