import { expect, test } from 'vitest';
import type { Conclusion, FailureCode } from '#checks/index.ts';
import { createSharedCauses, type SharingIncident } from '#monitor/evidence/shared-causes.ts';

const ends: Conclusion = { rule: 'path-ends', text: 'Packets from de1 end after 10.0.3.2 (hop 3); us1 gets through.' };
const loops: Conclusion = { rule: 'path-loop', text: 'Packets from de1 loop between 10.0.2.2 and 10.0.3.2.' };

function incident(target: string, { openedAt = 0, code = 'timeout' }: { openedAt?: number; code?: FailureCode } = {}) {
  const vote = { node: 'de1', place: '', seconds: null, address: null, source: 'target', message: null } as const;
  return { target, openedAt, votes: [{ ...vote, status: 'down', code }] } satisfies SharingIncident;
}

const document = { path: null, names: null, tls: null, response: null, received: null, uplink: null, missing: [] };
const gathered = {
  at: 0,
  occasion: 'opened',
  node: 'de1',
  isFailing: true,
  failure: 'timeout',
  lastGood: null,
} as const;

function examinedWith(...all: readonly (readonly Conclusion[])[]) {
  let shown: readonly Conclusion[] = [];
  const causes = createSharedCauses(() => shown);
  const examine = (target: string, conclusions: readonly Conclusion[], isGathered = true) => {
    shown = conclusions;
    causes.examined(incident(target), [{ ...gathered, document: isGathered ? document : null, note: null }]);
  };
  for (const [index, conclusions] of all.entries()) examine(`t${index}`, conclusions);
  return { ...causes, examine };
}

test('what most examined targets have in common is said of one that was not examined', () => {
  expect(examinedWith([ends], [ends], [loops]).sharedBy(incident('shop'))).toBe(
    'Packets from de1 end after 10.0.3.2 (hop 3); us1 gets through (seen at 2 of 3 examined targets that failed at the same time).',
  );
});

test.each([
  ['one target is examined', [[ends]]],
  ['half of them show it', [[ends], [ends], [], []]],
  ['they show different causes', [[ends], [loops]]],
  [
    'the cause lies in the targets',
    Array.from({ length: 3 }, () => [{ rule: 'certificate-expired', text: 'The certificate expired.' }]),
  ],
])('nothing is said if %s', (_, all) => {
  expect(examinedWith(...all).sharedBy(incident('shop'))).toBeNull();
});

test.each([
  ['failed for another reason', incident('shop', { code: 'refused' })],
  ['failed at another time', incident('shop', { openedAt: 300_001 })],
  ['has no votes', { ...incident('shop'), votes: [] }],
])('nothing is said of a target that %s', (_, one) => {
  expect(examinedWith([ends], [ends], [ends]).sharedBy(one)).toBeNull();
});

test('a target counts once, with what it showed last', () => {
  const causes = examinedWith([ends], [ends]);
  causes.examine('t1', []);
  expect(causes.sharedBy(incident('shop'))).toBeNull();
  expect(causes.sharedBy(incident('t1'))).toBeNull();
});

test('a target of which nothing could be gathered does not count', () => {
  const causes = examinedWith([ends], [ends]);
  for (const name of ['t3', 't4', 't5']) causes.examine(name, [], false);
  expect(causes.sharedBy(incident('shop'))).toContain('2 of 2');
});
