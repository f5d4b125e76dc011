import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import type { Observation } from '#protocol/watching.ts';
import { createNextDue } from '#schedule/schedule.ts';
import { assignedOf } from '#service/assignments.ts';
import { refusalOf } from '#service/refusal.ts';
import { collectRounds } from '#service/rounds.ts';
import { createTargetWatch } from '#service/target-watch.ts';
import { up } from '../../support/votes.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

function watched(everyMs: number) {
  const schedule = { kind: 'every', everyMs } as const;
  const spec = CheckSpec.parse({ type: 'tcp', host: 'shop.example.com:443' });
  const target = { name: 'shop', spec, schedule, nodes: { kind: 'all' } } as const;
  const sink = { hasVerdict: () => true, round: () => {}, skipped: () => {} };
  const rounds = collectRounds({ target, limitMs: 1_000, sink, statusOf: () => null }, { over: now, decided: now });
  return createTargetWatch({ name: 'shop', schedule, target, assigned: assignedOf(target, 'private'), rounds, now });
}

test('a moment that is no due time is refused each time, and a due time never is', () => {
  const place = watched(10_000);
  const { revision } = place.assigned;
  const due = createNextDue(place.assigned.schedule, 'shop')(now) ?? Number.NaN;
  const seen = (dueAt: number): Observation => ({ target: 'shop', revision, dueAt, startedAt: dueAt, outcome: up() });
  const refusals = [due, due + 1, due, due, due + 1, due + 10_000, due].map((at) => refusalOf(place, seen(at), 0, now));
  const refused = `${due + 1} is no due time of shop`;
  expect(refusals).toEqual([null, refused, null, null, refused, null, null]);
});

test('what was a due time is looked at anew when the target is due at others', () => {
  const place = watched(10_000);
  const due = createNextDue(place.assigned.schedule, 'shop')(now) ?? Number.NaN;
  const seen: Observation = {
    target: 'shop',
    revision: place.assigned.revision,
    dueAt: due,
    startedAt: due,
    outcome: up(),
  };
  expect(refusalOf(place, seen, 0, now)).toBeNull();
  const { assigned } = watched(7_000);
  place.assigned = { ...assigned, revision: place.assigned.revision };
  expect(refusalOf(place, seen, 0, now)).toBe(`${due} is no due time of shop`);
});
