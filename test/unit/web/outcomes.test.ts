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
    name: 'of both families',
    outcome: { ...answered, facts: { ...answered.facts, ipv4_seconds: 0.02, ipv6_seconds: 0.01 } },
    heads: ['Node', 'Place', 'Result', 'Time', 'IPv4, IPv6', 'Received', 'Min', 'Mean', 'Max', 'Address'],
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

test('a place has its country and its network', () => {
  const page = String(
    outcomes({ check: 'ping', results: [{ node: de1, outcome: answered }], label: 'x', byRow: true }),
  );
  expect(page).toContain(
    '<span class="country" aria-hidden="true">DE</span> Berlin, Germany <span class="soft small">AS64500</span>',
  );
});

test('a failure that three nodes have in common stands above the table, once', () => {
  const refused = failed(failure('target', 'refused', 'connection <refused>'));
  const nodes = ['de1', 'de2', 'us1'].map((name) => nodeInfo(name));
  const results = nodes.map((node) => ({ node, outcome: refused }));
  const other = { node: nodeInfo('jp1'), outcome: failed(failure('target', 'timeout', 'no answer')) };
  const draw = (some: readonly ReportResult[], byRow = true) =>
    String(outcomes({ check: 'tcp', results: some, label: 'x', byRow }));
  const page = draw([...results, other]);
  expect(page.match(/connection &lt;refused&gt;/g)).toHaveLength(1);
  expect(page).toMatch(/data-part="failures"><ul[^>]*><li>.*connection &lt;refused&gt;.*de1, de2, us1/);
  expect(page).toMatch(/<tr class="more">.*no answer/);
  expect(draw(results.slice(0, 2)).match(/connection &lt;refused&gt;/g)).toHaveLength(2);
  // Without parts of its own, as on the page of a target, each row has its reason.
  expect(draw(results, false).match(/connection &lt;refused&gt;/g)).toHaveLength(3);
});
