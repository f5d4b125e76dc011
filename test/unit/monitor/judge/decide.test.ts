import { expect, test } from 'vitest';
import { decide, type Memory } from '#monitor/judge/decide.ts';
import { Rule } from '#monitor/judge/rule.ts';
import type { Target } from '#monitor/judge/target.ts';
import { ordinary } from '../../../support/circumstances.ts';
import { anySpec, votesOf } from '../../../support/votes.ts';

const shop: Target = {
  name: 'shop',
  spec: anySpec,
  schedule: { kind: 'every', everyMs: 60_000 },
  nodes: { kind: 'all' },
  rules: [{ name: 'down', rule: Rule.parse({}) }],
  recipients: [
    { notify: 'ops', channel: 'email', recipient: 'ops@example.com', severities: ['critical', 'warning'] },
    { notify: 'ops', channel: 'email', recipient: 'boss@example.com', severities: ['critical'] },
  ],
  labels: {},
  dependsOn: [],
  objective: null,
};
const nothing: Memory = { states: new Map(), openIncidents: new Map() };

function play(lines: readonly string[], target = shop) {
  let memory = nothing;
  return lines.map((line, index) => {
    const dueAt = index * 60_000;
    const decision = decide(target, memory, { dueAt, votes: votesOf(line), now: dueAt + 500 }, ordinary);
    ({ memory } = decision);
    return decision;
  });
}

const bad = 'de1:down us1:down jp1:up';
const good = 'de1:up us1:up jp1:up';

test('a steady good target leaves nothing to be written but its votes', () => {
  for (const { record } of play([good, good, good])) {
    expect(record).toMatchObject({ states: [], incidents: [], deliveries: [] });
    expect(record.votes).toHaveLength(3);
  }
});

test('the second failing round opens one incident, back-dated, with a mail for each recipient', () => {
  const [first, second] = play([bad, bad]);
  expect(first?.record.incidents).toEqual([]);
  expect(first?.record.states).toHaveLength(1);
  const [incident] = second?.record.incidents ?? [];
  expect(incident).toMatchObject({
    id: 'shop/down/60000',
    startedAt: 0,
    openedAt: 60_000,
    endedAt: null,
    cause: 'it was refused at 192.0.2.1',
    subject: 'tcp 192.0.2.1:80',
    condition: 'more than half of the nodes failing in 2 rounds in a row',
  });
  expect(incident?.votes.map(({ node, place, status }) => [node, place, status])).toEqual([
    ['de1', 'Frankfurt, Germany', 'down'],
    ['us1', 'Los Angeles, USA', 'down'],
    ['jp1', 'Tokyo, Japan', 'up'],
  ]);
  expect(second?.record.deliveries.map(({ kind, recipient, incidentId }) => [kind, recipient, incidentId])).toEqual([
    ['opened', 'ops@example.com', 'shop/down/60000'],
    ['opened', 'boss@example.com', 'shop/down/60000'],
  ]);
});

test('the second good round closes it at the first, and the state is as if nothing had been', () => {
  const [, , , , last] = play([bad, bad, bad, good, good]);
  expect(last?.record.incidents).toMatchObject([{ id: 'shop/down/60000', startedAt: 0, endedAt: 180_000 }]);
  expect(last?.record.incidents[0]?.closingVotes).toHaveLength(3);
  expect(last?.record.deliveries.map(({ kind }) => kind)).toEqual(['resolved', 'resolved']);
  expect(last?.memory.openIncidents.size).toBe(0);
});

test('unknown rounds neither open nor close anything', () => {
  const lost = 'de1:unknown us1:unknown jp1:unknown';
  const decisions = play([bad, lost, bad, lost, good, lost, good]);
  expect(decisions.map(({ record }) => record.deliveries.map(({ kind }) => kind))).toEqual([
    [],
    [],
    ['opened', 'opened'],
    [],
    [],
    [],
    ['resolved', 'resolved'],
  ]);
  expect(decisions[1]?.verdict).toMatchObject({ status: 'unknown', reason: 'no_votes', failing: null });
});

test('an even split keeps the state and shows as partial', () => {
  const tie = 'de1:down us1:up';
  const decisions = play([tie, tie, tie]);
  expect(decisions.map(({ verdict }) => [verdict.status, verdict.reason])).toEqual(
    decisions.map(() => ['partial', 'tie']),
  );
  expect(decisions.flatMap(({ record }) => record.incidents)).toEqual([]);
});

test('each rule of a target has its own incident', () => {
  const strict = { name: 'any', rule: Rule.parse({ failing: 'any', rounds: 1, recover: 1, severity: 'warning' }) };
  const decisions = play(['de1:down us1:up jp1:up', good], { ...shop, rules: [...shop.rules, strict] });
  expect(
    decisions.map(({ record }) => record.incidents.map(({ rule, severity, endedAt }) => [rule, severity, endedAt])),
  ).toEqual([[['any', 'warning', null]], [['any', 'warning', 60_000]]]);
  expect(decisions[0]?.verdict).toMatchObject({ status: 'partial', reason: 'below_threshold' });
});

test('a recipient hears of the severities that it asked for', () => {
  const rule = { name: 'any', rule: Rule.parse({ failing: 'any', rounds: 1, severity: 'warning' }) };
  const [decision] = play(['de1:down us1:up jp1:up'], { ...shop, rules: [rule] });
  expect(decision?.record.deliveries.map(({ recipient }) => recipient)).toEqual(['ops@example.com']);
});
