import { globSync } from 'node:fs';
import { basename } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkOf, checkTypeNames, type Outcome } from '#checks/index.ts';
import { describeRule, refusalOf, Rule } from '#monitor/judge/rule.ts';
import { kindOf, ruleKinds } from '#monitor/judge/rules/index.ts';
import type { NodeView } from '#monitor/judge/rules/kind.ts';
import { statisticOf } from '#monitor/judge/rules/latency.ts';
import { down, notUp, unknown, up } from '../../../support/votes.ts';

const day = 86_400_000;
const now = Date.parse('2026-01-01T00:00:00Z');

const view = (outcome: Outcome, more: Partial<NodeView> = {}): NodeView => ({
  outcome,
  answers: null,
  values: null,
  recentTimes: outcome.status === 'up' && outcome.seconds !== null ? [{ at: now, seconds: outcome.seconds }] : [],
  budget: null,
  now,
  isOpen: false,
  noted: undefined,
  ...more,
});

const judge = (written: object, seen: NodeView) => {
  const rule = Rule.parse(written);
  return kindOf(rule.kind).judge(rule.options, seen);
};

const slow = { latency: { above: '800ms', clear: '600ms' } };
const lossy = { loss: { above: '20%', clear: '5%' } };
const expiring = { certificate: { expires_within: '14d' } };
const ending = { domain: { expires_within: '30d' } };
const warns = { warning: 'any' };
const ranged = { value: { label: 'load', range: '@10:20' } };
const changed = { answers: 'changed' };
const near = { hops: { above: 12 } };
const away = (hops: number) => up(0.02, { facts: { hops } });
const lost = (loss: number) => up(0.02, { facts: { loss } });
const registered = (days: number) => up(0.02, { facts: { domain_expires_at: (now + days * day) / 1_000 } });
const valid = (days: number) => up(0.02, { facts: { certificate_expires_at: (now + days * day) / 1_000 } });
const answered = (...answers: string[]) => ({ answers });

const pluginSays = (plugin_state: number, text = 'LOAD') => ({
  ...up(0.02, { facts: { plugin_state } }),
  detail: { text },
});
const figure = { unit: 'ms', warning: null, critical: null, min: null, max: null };
const measured = (value: number | null, label = 'load') => ({ values: [{ ...figure, label, value }] });

test.each<{ name: string; rule: object; seen: NodeView; status: string; reason: string; message?: string | null }>([
  { name: 'a good answer is up', rule: {}, seen: view(up()), status: 'up', reason: 'up', message: null },
  { name: 'OK is no warning', rule: warns, seen: view(pluginSays(0)), status: 'up', reason: 'ok', message: null },
  { name: 'WARNING', rule: warns, seen: view(pluginSays(1)), status: 'down', reason: 'warning', message: 'LOAD' },
  {
    name: 'WARNING without a text',
    rule: warns,
    seen: view(pluginSays(1, '')),
    status: 'down',
    reason: 'warning',
    message: 'the plugin says WARNING',
  },
  { name: 'CRITICAL is another rule', rule: warns, seen: view(down()), status: 'unknown', reason: 'no_figure' },
  {
    name: 'in the range',
    rule: ranged,
    seen: view(up(), measured(9)),
    status: 'up',
    reason: 'in_range',
    message: null,
  },
  {
    name: 'out of the range',
    rule: ranged,
    seen: view(up(), measured(10)),
    status: 'down',
    reason: 'out_of_range',
    message: 'load is 10ms',
  },
  {
    name: 'another label',
    rule: ranged,
    seen: view(up(), measured(10, 'other')),
    status: 'unknown',
    reason: 'no_figure',
    message: 'there is no value "load" in the performance data',
  },
  {
    name: 'a value that is not known',
    rule: ranged,
    seen: view(up(), measured(null)),
    status: 'unknown',
    reason: 'no_figure',
  },
  { name: 'a refusal is down', rule: {}, seen: view(down()), status: 'down', reason: 'refused' },
  { name: 'silence of the node is unknown', rule: {}, seen: view(unknown()), status: 'unknown', reason: 'no_answer' },
  {
    name: 'above the level is slow',
    rule: slow,
    seen: view(up(0.9)),
    status: 'down',
    reason: 'above',
    message: 'p95 of 10m is 900 ms',
  },
  { name: 'at the level is not slow', rule: slow, seen: view(up(0.8)), status: 'up', reason: 'below', message: null },
  {
    name: 'between the levels stays slow',
    rule: slow,
    seen: view(up(0.7), { isOpen: true }),
    status: 'down',
    reason: 'not_clear',
  },
  { name: 'between the levels stays fast', rule: slow, seen: view(up(0.7)), status: 'up', reason: 'below' },
  {
    name: 'at the lower level is fast again',
    rule: slow,
    seen: view(up(0.6), { isOpen: true }),
    status: 'up',
    reason: 'below',
  },
  { name: 'what is down is not slow', rule: slow, seen: view(down()), status: 'unknown', reason: 'no_figure' },
  {
    name: 'loss above the level',
    rule: lossy,
    seen: view(lost(0.25)),
    status: 'down',
    reason: 'above',
    message: '25% lost',
  },
  { name: 'loss at the level', rule: lossy, seen: view(lost(0.2)), status: 'up', reason: 'below' },
  {
    name: 'loss between the levels stays',
    rule: lossy,
    seen: view(lost(0.06), { isOpen: true }),
    status: 'down',
    reason: 'not_clear',
  },
  {
    name: 'loss at the lower level is over',
    rule: lossy,
    seen: view(lost(0.05), { isOpen: true }),
    status: 'up',
    reason: 'below',
  },
  {
    name: 'all packets lost is loss too',
    rule: lossy,
    seen: view({ ...notUp('loss'), facts: { loss: 1 } }),
    status: 'down',
    reason: 'above',
    message: '100% lost',
  },
  { name: 'no figure of loss is no opinion', rule: lossy, seen: view(up()), status: 'unknown', reason: 'no_figure' },
  { name: 'a path with as many hops as it may have', rule: near, seen: view(away(12)), status: 'up', reason: 'below' },
  {
    name: 'a path with more hops',
    rule: near,
    seen: view(away(13)),
    status: 'down',
    reason: 'above',
    message: '13 hops',
  },
  { name: 'no number of hops is no opinion', rule: near, seen: view(down()), status: 'unknown', reason: 'no_figure' },
  { name: 'a certificate with time left', rule: expiring, seen: view(valid(15)), status: 'up', reason: 'long_enough' },
  {
    name: 'a certificate that ends soon',
    rule: expiring,
    seen: view(valid(13)),
    status: 'down',
    reason: 'soon',
    message: 'the certificate expires on 2026-01-14',
  },
  {
    name: 'a certificate that is over',
    rule: expiring,
    seen: view(valid(-1)),
    status: 'down',
    reason: 'over',
    message: 'the certificate expired on 2025-12-31',
  },
  { name: 'no certificate', rule: expiring, seen: view(up()), status: 'unknown', reason: 'no_figure' },
  { name: 'a domain with time left', rule: ending, seen: view(registered(31)), status: 'up', reason: 'long_enough' },
  {
    name: 'a domain that ends soon',
    rule: ending,
    seen: view(registered(30)),
    status: 'down',
    reason: 'soon',
    message: 'the domain expires on 2026-01-31',
  },
  { name: 'a domain without a date', rule: ending, seen: view(up()), status: 'unknown', reason: 'no_figure' },
  {
    name: 'the first answers are taken as they are',
    rule: changed,
    seen: view(up(), answered('A 192.0.2.1')),
    status: 'up',
    reason: 'first',
  },
  {
    name: 'the same answers in another order are the same',
    rule: changed,
    seen: view(up(), { ...answered('A 192.0.2.2', 'A 192.0.2.1'), noted: 'A 192.0.2.1, A 192.0.2.2' }),
    status: 'up',
    reason: 'same',
  },
  {
    name: 'other answers are a change',
    rule: changed,
    seen: view(up(), { ...answered('A 192.0.2.9'), noted: 'A 192.0.2.1' }),
    status: 'down',
    reason: 'changed',
    message: 'answers A 192.0.2.9, before A 192.0.2.1',
  },
  {
    name: 'no answer says nothing about a change',
    rule: changed,
    seen: view(down()),
    status: 'unknown',
    reason: 'no_figure',
  },
])('$name', ({ rule, seen, status, reason, message }) => {
  expect(judge(rule, seen)).toMatchObject({ status, reason, ...(message === undefined ? {} : { message }) });
});

test('answers that changed are noted once the incident is open, and compared with from then on', () => {
  const first = judge(changed, view(up(), answered('A 192.0.2.1')));
  expect(first.note).toBe('A 192.0.2.1');
  const noted = { noted: 'A 192.0.2.1', ...answered('A 192.0.2.9') };
  expect(judge(changed, view(up(), noted)).note).toBeUndefined();
  expect(judge(changed, view(up(), { ...noted, isOpen: true })).note).toBe('A 192.0.2.9');
});

test.each([
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
  ['max', 1],
] as const)('%s is a time that was measured, with so many at or below it', (statistic, share) => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 10, noNaN: true }), { minLength: 1, maxLength: 200 }), (seconds) => {
      const found = statisticOf(
        seconds.map((one) => ({ at: 0, seconds: one })),
        statistic,
      );
      expect(seconds).toContain(found);
      expect(seconds.filter((one) => one <= found).length).toBeGreaterThanOrEqual(share * seconds.length - 1e-6);
      expect(seconds.filter((one) => one < found).length).toBeLessThan(share * seconds.length + 1e-6);
    }),
  );
});

test('last and mean are what they say, and without a time nothing is known', () => {
  const recentTimes = [0.1, 0.5, 0.3].map((seconds) => ({ at: 0, seconds }));
  expect(statisticOf(recentTimes, 'last')).toBe(0.3);
  expect(statisticOf(recentTimes, 'mean')).toBeCloseTo(0.3);
  expect(statisticOf([], 'mean')).toBeNaN();
  expect(judge(slow, view(up(), { recentTimes: [] })).status).toBe('unknown');
});

test.each([
  [{}, 'more than half of the nodes failing in 2 rounds in a row'],
  [{ failing: 2, rounds: 1 }, '2 nodes or more failing in 1 round'],
  [slow, 'p95 of 10m above 800 ms at more than half of the nodes, in 2 rounds in a row'],
  [
    { latency: { above: '1s', statistic: 'last' }, nodes: 'any' },
    'the time above 1.00 s at any node, in 2 rounds in a row',
  ],
  [{ ...lossy, rounds: '2 of 3' }, 'more than 20% lost at more than half of the nodes, in 2 of 3 rounds'],
  [{ ...expiring, rounds: 1 }, 'certificate ends within 14d at any node, in 1 round'],
  [changed, 'other answers than before at more than half of the nodes, in 2 rounds in a row'],
])('the rule %j in words', (written, words) => {
  expect(describeRule(Rule.parse(written), checkOf('tcp'))).toBe(words);
});

test.each([
  [{ rounds: 1 }, 'late, failed or running for too long'],
  [{ rounds: 2 }, 'late, failed or running for too long, 2 times in a row'],
  [{ rounds: '2 of 3' }, 'late, failed or running for too long, 2 of 3 times'],
  [{ latency: { above: '5m', statistic: 'last' }, rounds: 1 }, 'the time above 300.0 s'],
])('the rule %j of a job in words, without nodes', (written, words) => {
  expect(describeRule(Rule.parse(written), checkOf('heartbeat'))).toBe(words);
});

const writtenRules = [
  {},
  { failing: '50%', quorum: 2, confirm: false },
  slow,
  { ...lossy, nodes: 3 },
  expiring,
  changed,
  near,
];

test.each(writtenRules)('the rule %j means the same when it is written down and read again', (written) => {
  const rule = Rule.parse(written);
  expect(Rule.parse(Rule.encode(rule))).toEqual(rule);
});

test('which check types a rule is for is what they declare, not a list', () => {
  const fits = (written: object) =>
    checkTypeNames.filter((name) => refusalOf(Rule.parse(written), checkOf(name), 1_000) === null);
  expect(fits({})).toEqual(checkTypeNames);
  expect(fits(slow)).toEqual(checkTypeNames);
  expect(fits(lossy)).toEqual(checkTypeNames.filter((name) => checkOf(name).facts.includes('loss')));
  expect(fits(lossy)).toEqual(['ping', 'mtr']);
  expect(fits(expiring)).toEqual(
    checkTypeNames.filter((name) => checkOf(name).facts.includes('certificate_expires_at')),
  );
  expect(fits(expiring).join(' ')).toBe('http tcp dns tls grpc websocket postgres mysql redis mongodb mqtt amqp flow');
  expect(fits(warns)).toEqual(['plugin']);
  expect(fits(ranged)).toEqual(['plugin']);
  expect(fits(changed)).toEqual(['dns', 'ssh', 'traceroute', 'mtr']);
  expect(fits({ hops: { above: 12 } })).toEqual(['traceroute', 'mtr']);
});

test('what a kind says of every good outcome is what it says when it is asked about one', () => {
  const outcomes = [up(), up(0.02, { facts: { loss: 0.5, hops: 3 } }), pluginSays(1), registered(3), valid(1)];
  const constant = ruleKinds.flatMap((kind) => ('ofUp' in kind ? [kind] : []));
  expect(constant.map(({ key }) => key)).toEqual(['failing', 'unknown']);
  for (const outcome of outcomes)
    for (const isOpen of [false, true]) {
      const seen = view(outcome, { isOpen });
      expect(judge({ failing: 'any' }, seen)).toEqual(kindOf('failing').ofUp);
      expect(judge({ unknown: '5m' }, seen)).toEqual(kindOf('unknown').ofUp);
    }
});

test('THE list of kinds equals the files', () => {
  const folder = new URL('../../../../src/monitor/judge/rules/', import.meta.url).pathname;
  const files = globSync('*.ts', { cwd: folder }).map((file) => basename(file, '.ts'));
  expect(files.filter((name) => name !== 'index' && name !== 'kind').sort()).toEqual(
    ruleKinds.map(({ key }) => key).sort(),
  );
});
