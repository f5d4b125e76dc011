import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import { CheckRun } from '#service/check-run.ts';
import { createRecent } from '#service/checks.ts';
import { nodeInfo, up } from '../../support/votes.ts';

const spec = CheckSpec.parse({ type: 'tcp', host: '192.0.2.1:80' });

function runOf(id: string, nodes: number, outcome: Outcome | null = up(0.001)): CheckRun {
  const results = Array.from({ length: nodes }, (_, index) => ({ node: nodeInfo(`de${index + 1}`), outcome }));
  return new CheckRun({ id, createdAt: 0, spec, results });
}

test('what is asked for again and again stays, however many come after it', () => {
  const recent = createRecent(20);
  const asked = runOf('asked', 1);
  recent.add(asked);
  for (let index = 0; index < 200; index += 1) {
    recent.add(runOf(`other ${index}`, 1));
    expect(recent.find('asked')).toBe(asked);
  }
  expect(recent.find('other 0')).toBeNull();
});

test('the newest runs are kept, up to half of the limit in outcomes at the least and all of it at the most', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(sizes, (counts) => {
      const added = counts.map((count, index) => runOf(String(index), count));
      // What is found changes what is kept: each is looked for in a cache of its own.
      const isKept = ({ id }: CheckRun) => {
        const recent = createRecent(20);
        for (const run of added) recent.add(run);
        return recent.find(id) !== null;
      };
      let newer = 0;
      for (const run of added.toReversed()) {
        newer += run.results.length;
        if (newer <= 10) expect(isKept(run)).toBe(true);
        // Each half may be over by what its last run has more than one.
        if (newer > 20 + 2 * 4) expect(isKept(run)).toBe(false);
      }
    }),
  );
});

test('what waits for outcomes stays, however many come after it, and may go once it has them', () => {
  const recent = createRecent(20);
  const waiting = runOf('waiting', 1, null);
  recent.add(waiting);
  for (let index = 0; index < 200; index += 1) recent.add(runOf(`first ${index}`, 1, index % 2 === 0 ? null : up(1)));
  expect(recent.find('waiting')).toBe(waiting);
  waiting.record(nodeInfo('de1'), up(0.001));
  for (let index = 0; index < 200; index += 1) recent.add(runOf(`later ${index}`, 1));
  expect(recent.find('waiting')).toBeNull();
});

test('what is removed is not found, whichever half it is in', () => {
  const recent = createRecent(20);
  recent.add(runOf('old', 1));
  for (let index = 0; index < 10; index += 1) recent.add(runOf(String(index), 1));
  recent.add(runOf('young', 1));
  for (const id of ['old', 'young']) recent.remove(id);
  expect([recent.find('old'), recent.find('young')]).toEqual([null, null]);
});
