import { expect, test } from 'vitest';
import { failed, failure, type Outcome } from '#checks/index.ts';
import { reportTitle, type ReportValue } from '#web/pages/report.ts';
import { nodeInfo } from '../../support/votes.ts';

const pinged = (seconds: number, loss = 0): Outcome => ({
  status: 'up',
  seconds,
  facts: { loss },
  address: '192.0.2.1',
  phases: {},
  detail: { attempts: [], duplicates: 0, timed_by: 'kernel' },
});
const spec = { type: 'ping', host: 'example.com' } as ReportValue['spec'];
const titleOf = (outcomes: readonly (Outcome | null)[]) =>
  reportTitle({
    id: 'x',
    createdAt: 0,
    spec,
    results: outcomes.map((outcome, index) => ({ node: nodeInfo(`de${index}`), outcome })),
  });

test('the headline has the median of all nodes, and the share that was lost', () => {
  expect(titleOf([pinged(0.01), pinged(0.09, 0.5), pinged(0.02)])).toMatch(
    /^ping example\.com: all 3 nodes .*; median 20 ms, 17 % lost$/,
  );
  expect(titleOf([pinged(0.01), pinged(0.03)])).toMatch(/; median 10 ms$/);
});

test('what one node measured is no median, and while nodes work there is no figure', () => {
  const refused = failed(failure('target', 'timeout', 'no answer'));
  expect(titleOf([pinged(0.01), refused])).toMatch(/; 1 did not$/);
  expect(titleOf([pinged(0.01), pinged(0.01), null])).toMatch(/2 of 3 nodes have answered$/);
});
