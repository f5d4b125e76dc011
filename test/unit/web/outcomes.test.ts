import { expect, test } from 'vitest';
import { failed, failure, type Outcome } from '#checks/index.ts';
import { type ReportResult, outcomes, type OutcomesValue } from '#web/pages/outcomes.ts';
import { nodeInfo } from '../../support/votes.ts';

const answered: Outcome = {
  status: 'up',
  seconds: 0.02,
  facts: { loss: 0, rtt_min: 0.01, rtt_mean: 0.02, rtt_max: 0.03 },
  address: '192.0.2.1',
  phases: {},
  detail: {
    attempts: [{ status: 'OK', seconds: 0.02, ttl: 64, reason: null }],
    duplicates: 0,
    timed_by: 'kernel',
  },
};

const named = { ...answered, phases: { resolve: 0.004 } };

const headsOf = (results: readonly ReportResult[], check: OutcomesValue['check'] = 'ping') =>
  [...String(outcomes({ check, results, label: 'x', byRow: true })).matchAll(/<th scope="col"[^>]*>([^<]*)/g)].map(
    ([, name]) => name,
  );

const de1 = nodeInfo('de1', { city: 'Berlin' });

test.for([
  { name: 'before anybody answered', outcome: null, heads: ['Node', 'Place', 'Result'] },
  {
    name: 'of an address that nobody had to look up',
    outcome: answered,
    heads: ['Node', 'Place', 'Result', 'Time', 'Received', 'Min', 'Mean', 'Max', 'Address'],
  },
  {
    name: 'of a name that was looked up',
    outcome: named,
    heads: ['Node', 'Place', 'Result', 'Time', 'Received', 'Min', 'Mean', 'Max', 'Address', 'Phases'],
  },
  {
    name: 'where nothing came of it',
    outcome: failed(failure('node', 'gone', 'the node went away')),
    heads: ['Node', 'Place', 'Result'],
  },
])('$name a report has the columns that say something', ({ outcome, heads }) => {
  expect(headsOf([{ node: de1, outcome }])).toEqual(heads);
});

test('a column stays for all where one node has something to say in it, and a place that is not known is said beside others', () => {
  const other = nodeInfo('zz1', { city: '', country: '' });
  const results = [
    { node: de1, outcome: null },
    { node: other, outcome: answered },
  ];
  expect(headsOf(results)).toContain('Received');
  const page = String(outcomes({ check: 'ping', results, label: 'x', byRow: true }));
  expect(page).toContain('unknown place');
  const cells = [...page.matchAll(/<tbody[^>]*><tr>(.*?)<\/tr>/g)].map(([, row = '']) => row.split('<td').length);
  expect(new Set(cells)).toEqual(new Set([headsOf(results).length]));
  expect(headsOf([{ node: other, outcome: answered }])).not.toContain('Place');
});
