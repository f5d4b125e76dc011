import { expect, test } from 'vitest';
import { createRoster, type NodeAbsence } from '#transport/nats/roster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { nodeInfo } from '../../support/votes.ts';

const hour = 3_600_000;

function openRoster(clock: FakeClock, onAbsence: (absence: NodeAbsence) => void = () => {}) {
  return createRoster({
    enrolled: async () => [nodeInfo('us1')],
    onAbsence,
    absentAfterMs: 300_000,
    onLost: () => {},
    onListed: () => {},
    arrivalMs: 0,
    clock,
    log: memoryLog().log,
  });
}

test('a connection is as old as itself, and nodes that cannot be heard have not sent all', async () => {
  const clock = new FakeClock();
  const roster = openRoster(clock);
  await roster.listed;
  await clock.advance(20_000);
  expect([roster.connectedMs(), roster.hasAllSent()]).toEqual([0, false]);
  roster.connected();
  await clock.advance(14_999);
  expect([roster.connectedMs(), roster.hasAllSent()]).toEqual([14_999, false]);
  await clock.advance(1);
  expect([roster.connectedMs(), roster.hasAllSent()]).toEqual([15_000, true]);
  roster.disconnected('it is gone');
  expect([roster.connectedMs(), roster.hasAllSent()]).toEqual([0, false]);
  await roster.close();
});

test.each([
  { name: 'is not set', stepMs: 0 },
  { name: 'is set forward', stepMs: hour },
  { name: 'is set back', stepMs: -hour },
])('a node is absent after its time has passed, although the clock $name meanwhile', async ({ stepMs }) => {
  const clock = new FakeClock();
  const absences: NodeAbsence[] = [];
  const roster = openRoster(clock, (absence) => void absences.push(absence));
  await roster.listed;
  roster.connected();
  await clock.advance(5_000);
  clock.step(stepMs);
  await clock.advance(290_000);
  expect(absences).toEqual([]);
  await clock.advance(10_000);
  expect(absences.map(({ node }) => node.name)).toEqual(['us1']);
  await roster.close();
});
