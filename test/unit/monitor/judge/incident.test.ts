import { expect, test } from 'vitest';
import { commonestCause, voteTable } from '#monitor/judge/incident.ts';
import { resolve, unwatch } from '#monitor/judge/incident-life.ts';
import { shopDown } from '../../../support/incidents.ts';
import { nodeInfo, notUp, unknown, up, votes } from '../../../support/votes.ts';

test('the vote table has a line for each vote, with the reason where it is not up', () => {
  const [first, second, third] = voteTable(votes(up(0.25), notUp('status', 'target', 1.5), unknown()));
  const place = 'Frankfurt, Germany';
  expect(first).toEqual({
    node: 'zz1',
    place,
    status: 'up',
    seconds: 0.25,
    address: '192.0.2.1',
    source: null,
    code: null,
    message: null,
  });
  expect(second).toMatchObject({ node: 'zz2', status: 'down', seconds: 1.5, source: 'target', code: 'status' });
  expect(third).toMatchObject({ node: 'zz3', status: 'unknown', seconds: null, source: 'node', code: 'no_answer' });
});

test.each([
  { name: 'city and country', about: {}, place: 'Frankfurt, Germany' },
  { name: 'the country alone', about: { city: '' }, place: 'Germany' },
  { name: 'nothing known', about: { city: '', country: '' }, place: '' },
])('the place of a node: $name', ({ about, place }) => {
  expect(voteTable([{ node: nodeInfo('de1', about), outcome: up() }])[0]?.place).toBe(place);
});

test.each([
  { name: 'most of the failing nodes gave', seen: ['refused', 'timeout', 'timeout'] as const, cause: 'it was timeout' },
  { name: 'came first, where several are as common', seen: ['refused', 'timeout'] as const, cause: 'it was refused' },
])('the cause is what $name', ({ seen, cause }) => {
  expect(
    commonestCause(voteTable(votes(unknown(), unknown(), unknown(), ...seen.map((code) => notUp(code))))),
  ).toContain(cause);
});

test('without a failing node there is no cause', () => {
  expect(commonestCause(voteTable(votes(up(), unknown())))).toBe('no node could say why');
});

test('an incident that was never told keeps why when it is over', () => {
  const held = { by: 'maintenance', why: 'maintenance until 04:00' } as const;
  const { incident, deliveries } = resolve({ ...shopDown, held }, { endedAt: 9, closingVotes: [] }, [], 10);
  expect({ held: incident.held, deliveries }).toEqual({ held, deliveries: [] });
});

test('an incident that was never announced ends without a word when it is no longer monitored', () => {
  const to = [{ notify: 'ops', channel: 'email', recipient: 'ops@example.com', severities: ['critical'] }] as const;
  const held = { by: 'maintenance', why: 'maintenance until 04:00' } as const;
  const { incident, deliveries } = unwatch({ ...shopDown, notified: null, held }, to, 10);
  expect(incident).toMatchObject({ held, endedAt: 10, closing: 'unwatched' });
  expect(deliveries).toEqual([]);
  expect(unwatch({ ...shopDown, notified: null }, to, 10).deliveries).toMatchObject([{ kind: 'closed' }]);
});
