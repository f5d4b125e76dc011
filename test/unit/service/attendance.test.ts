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
  const attendance = new Attendance(() => known, 1_000);
  attendance.keeps('de1', 0);
  expect([attendance.isThere('de1'), attendance.isAwaited('de1', 5)]).toEqual([isThere, isAwaited]);
});

test('a node that voted on a later check has left out those that it watched, and no others', () => {
  const attendance = new Attendance(() => status({ online: true }), 1_000);
  attendance.keeps('de1', 10);
  attendance.passUntil('de1', 30);
  const codeAt = (dueAt: number) => {
    const { outcome } = attendance.missing(nodeInfo('de1'), dueAt);
    return outcome.status === 'up' ? null : outcome.failure.code;
  };
  expect([5, 15, 35].map(codeAt)).toEqual(['gone', 'busy', 'no_answer']);
});
