import { expect, test } from 'vitest';
import { Attendance } from '#service/attendance.ts';
import type { NodeStatus } from '#service/ports.ts';
import { nodeInfo } from '../../support/votes.ts';

const status = (more: Partial<NodeStatus>): NodeStatus => ({
  info: nodeInfo('de1'),
  online: false,
  reason: null,
  capabilities: {},
  running: 0,
  queued: 0,
  lagSeconds: 0,
  ...more,
});

test.each([
  { name: 'one that is online', known: status({ online: true }), isThere: true, isAwaited: true },
  { name: 'one that starts', known: status({ starting: true }), isThere: true, isAwaited: false },
  { name: 'one that is away', known: status({}), isThere: false, isAwaited: false },
  { name: 'one that is not configured any more', known: null, isThere: false, isAwaited: false },
])('a node is there, and its vote is awaited: $name', ({ known, isThere, isAwaited }) => {
  const attendance = new Attendance({ statusOf: () => known, limitMs: 1_000 });
  attendance.keeps('de1', 0);
  expect([attendance.isThere('de1'), attendance.isAwaited('de1', 5)]).toEqual([isThere, isAwaited]);
});

test('a node that voted on a later check has left out those that it watched, and no others', () => {
  const attendance = new Attendance({ statusOf: () => status({ online: true }), limitMs: 1_000 });
  attendance.keeps('de1', 10);
  attendance.passUntil('de1', 30);
  const codeAt = (dueAt: number) => {
    const { outcome } = attendance.missing(nodeInfo('de1'), dueAt);
    return outcome.status === 'up' ? null : outcome.failure.code;
  };
  expect([5, 15, 35].map(codeAt)).toEqual(['gone', 'busy', 'no_answer']);
});

test('a node that passes checks over without a later vote yet is busy, and it is no fault of others', () => {
  const isBusy = (node: string, dueAt: number) => node === 'de1' && dueAt >= 15 && dueAt <= 25;
  const attendance = new Attendance({ statusOf: () => status({ online: true }), limitMs: 1_000, isBusy });
  const nodes = [nodeInfo('de1'), nodeInfo('us1')];
  for (const { name } of nodes) attendance.keeps(name, 10);
  const codesAt = (dueAt: number) =>
    nodes.map((node) => {
      const { outcome } = attendance.missing(node, dueAt);
      return outcome.status === 'up' ? null : outcome.failure.code;
    });
  expect(codesAt(14)).toEqual(['no_answer', 'no_answer']);
  expect(codesAt(15)).toEqual(['busy', 'no_answer']);
  expect(codesAt(26)).toEqual(['no_answer', 'no_answer']);
  // A round that began nowhere is counted and no round of unknown votes, if nobody else is waited for.
  expect(attendance.idleOf(nodes.slice(0, 1), 20, true)).toBe('skipped');
  expect(attendance.idleOf(nodes, 20, true)).toBeNull();
});
