import { expect, test } from 'vitest';
import type { FailureCode } from '#checks/index.ts';
import { commonestCode, decideEvidence, type EvidenceQuestion } from '#monitor/evidence/decision.ts';
import { evidenceDay } from '#monitor/evidence/good.ts';
import { chooseAcrossNetworks, networkOf } from '#monitor/evidence/storm.ts';
import type { VoteLine } from '#monitor/judge/incident.ts';

const now = Date.parse('2026-01-05T08:00:00Z');
const hour = 3_600_000;

function line(node: string, status: VoteLine['status'], code: FailureCode | null = null): VoteLine {
  return { node, place: '', status, seconds: null, address: null, source: null, code, message: null };
}

const votes = [
  line('de1', 'down', 'refused'),
  line('fr1', 'down', 'refused'),
  line('jp1', 'up'),
  line('us1', 'down', 'timeout'),
  line('us2', 'down', 'timeout'),
  line('us3', 'up'),
];

const opened: EvidenceQuestion = {
  now,
  occasion: 'opened',
  target: 'shop',
  incident: { startedAt: now - 60_000, openedAt: now, endedAt: null, held: null },
  votes,
  isEnabled: true,
  isHeartbeat: false,
  gathered: [],
  isBusy: false,
  loads: new Map(),
  nodes: votes.map(({ node }) => node),
  isLeftOut: false,
};

const over = { startedAt: now - 2 * hour, openedAt: now - 2 * hour, endedAt: now, held: null };
const before = { occasion: 'opened', codes: ['refused'] } as const;
const refuse = (reason: string) => ({ kind: 'refuse', reason });

test('three nodes that saw it fail and one that sees it up gather evidence of an incident that opens', () => {
  expect(decideEvidence(opened)).toEqual({
    kind: 'gather',
    nodes: [
      { node: 'de1', isFailing: true, failure: 'refused' },
      { node: 'fr1', isFailing: true, failure: 'refused' },
      { node: 'us1', isFailing: true, failure: 'timeout' },
      { node: 'jp1', isFailing: false, failure: null },
    ],
  });
});

test('nodes that are not online are not asked', () => {
  expect(decideEvidence({ ...opened, nodes: ['fr1'] })).toMatchObject({ nodes: [{ node: 'fr1' }] });
  expect(decideEvidence({ ...opened, nodes: ['jp1'] })).toEqual(refuse('not_failing'));
});

test.each<[string, Partial<EvidenceQuestion>]>([
  ['disabled', { isEnabled: false }],
  ['own_incident', { target: 'node de1' }],
  ['own_incident', { target: 'own database' }],
  ['heartbeat', { isHeartbeat: true }],
  ['foreign_service', { nodes: null }],
  ['suppressed', { incident: { ...over, endedAt: null, held: { by: 'maintenance', why: 'maintenance' } } }],
  ['suppressed', { incident: { ...over, endedAt: null, held: { by: 'connectivity', why: 'cut off' } } }],
  ['already_gathered', { gathered: [before] }],
  ['too_late', { incident: { ...over, openedAt: now - 11 * 60_000, endedAt: null } }],
  ['too_late', { incident: over }],
  ['not_failing', { votes: [line('de1', 'up')] }],
  ['not_failing', { votes: [line('Watchpost', 'down', 'late')] }],
  ['storm', { isLeftOut: true }],
  ['not_failing', { occasion: 'ended', incident: over }],
  ['too_short', { occasion: 'ended', gathered: [before], incident: { ...over, startedAt: now - hour } }],
  ['already_gathered', { occasion: 'ended', gathered: [before, { ...before, occasion: 'ended' }], incident: over }],
  ['already_gathered', { occasion: 'cause_changed', gathered: [{ ...before, codes: ['refused'] }] }],
  ['not_failing', { occasion: 'cause_changed', gathered: [before], incident: over }],
  ['not_failing', { occasion: 'cause_changed' }],
  ['already_gathered', { occasion: 'cause_changed', gathered: Array.from({ length: 10 }, () => before) }],
])('nothing is gathered: %s', (reason, changes) => {
  expect(decideEvidence({ ...opened, ...changes })).toEqual(refuse(reason));
});

test('a silence or a dependency does not keep nodes from gathering', () => {
  const held = { by: 'silence', why: 'it moves' } as const;
  expect(decideEvidence({ ...opened, incident: { ...over, openedAt: now, endedAt: null, held } }).kind).toBe('gather');
});

test('another cause than any before is looked at', () => {
  const gathered = [before];
  const other = votes.map((vote): VoteLine => (vote.code === 'refused' ? { ...vote, code: 'tls' } : vote));
  const question = { ...opened, occasion: 'cause_changed', gathered } as const;
  expect(commonestCode(other)).toBe('tls');
  expect(decideEvidence({ ...question, votes: other }).kind).toBe('gather');
});

test('nodes that see a target up again look at the end of a long incident', () => {
  const closing = [line('de1', 'up'), line('fr1', 'up')];
  const question = { ...opened, occasion: 'ended', gathered: [before], incident: over, votes: closing } as const;
  expect(decideEvidence(question)).toMatchObject({ nodes: [{ node: 'de1', isFailing: false }, { node: 'fr1' }] });
});

test('a target is looked at once at a time, and a node gathers two at a time', () => {
  expect(decideEvidence({ ...opened, isBusy: true })).toEqual({ kind: 'wait', reason: 'target_busy' });
  const loads = new Map(votes.map(({ node }) => [node, 1]));
  expect(decideEvidence({ ...opened, loads })).toMatchObject({ kind: 'gather' });
  loads.set('us1', 2);
  expect(decideEvidence({ ...opened, loads })).toEqual({ kind: 'wait', reason: 'node_busy' });
});

test('an operator asks about a target that is up, or has no incident, or is one of a storm', () => {
  const demand = { ...opened, occasion: 'demand', incident: null, isLeftOut: true } as const;
  expect(decideEvidence(demand)).toMatchObject({ kind: 'gather', nodes: { length: 4 } });
  expect(decideEvidence({ ...demand, votes: [line('de1', 'up')] })).toMatchObject({ nodes: [{ isFailing: false }] });
  expect(decideEvidence({ ...demand, votes: [] })).toEqual(refuse('not_failing'));
});

test('of a storm five targets are chosen, from different networks as far as there are any', () => {
  const candidates = Array.from({ length: 60 }, (_, index) => ({
    target: `t${index}`,
    network: index < 55 ? 'a' : `b${index}`,
  }));
  expect([...chooseAcrossNetworks(candidates, [])]).toEqual(['t0', 't55', 't56', 't57', 't58']);
  const same = candidates.slice(0, 55);
  expect([...chooseAcrossNetworks(same, [])]).toEqual(['t0', 't1', 't2', 't3', 't4']);
  expect([...chooseAcrossNetworks(candidates, same.slice(0, 4))]).toEqual(['t55']);
  expect([...chooseAcrossNetworks(candidates, same.slice(0, 20))]).toEqual([]);
});

test.each([
  ['192.0.2.7', '192.0.2.0/24'],
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
  ['2001:db8::3', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
  [null, 'shop'],
  ['de1.example.com', 'shop'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf([{ address: null }, { address }], 'shop')).toBe(network);
});

test('healthy targets are looked at once a day, each node and target at a moment of its own', () => {
  const days = Array.from({ length: 24 }, (_, index) => evidenceDay('shop', 'de1', now + index * hour));
  expect(new Set(days).size).toBe(2);
  const starts = ['de1', 'fr1', 'us1'].map((node) =>
    Array.from({ length: 24 }, (_, index) => evidenceDay('shop', node, now + index * hour)).lastIndexOf(
      evidenceDay('shop', node, now),
    ),
  );
  expect(new Set(starts).size).toBeGreaterThan(1);
});
