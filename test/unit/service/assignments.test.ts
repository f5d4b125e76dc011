import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { assignedOf, Assignments } from '#service/assignments.ts';
import type { Assignment } from '#protocol/watching.ts';

function entryOf(name: string) {
  const kept: (readonly [node: string, since: number | null])[] = [];
  const spec = CheckSpec.parse({ type: 'tcp', host: `${name}.example.com:443` });
  const target = { name, spec, schedule: { kind: 'every', everyMs: 10_000 }, nodes: { kind: 'all' } } as const;
  const rounds = { keeps: (node: string, since: number | null) => void kept.push([node, since]) };
  return { assigned: assignedOf(target, 'private'), rounds, kept };
}

function assignments() {
  const sent: Assignment[] = [];
  return { sent, all: new Assignments({ assign: (_, assignment) => void sent.push(assignment) }) };
}

test('what a node watches is passed to its targets once for each assignment', () => {
  const { all } = assignments();
  const shop = entryOf('shop');
  all.put('de1', [shop]);
  for (const since of [100, 200]) all.heard('de1', 1, since, [shop]);
  expect(shop.kept).toEqual([['de1', 100]]);
  const mail = entryOf('mail');
  all.put('de1', [shop, mail]);
  all.heard('de1', 1, 100, [shop, mail]);
  expect(mail.kept).toEqual([]);
  all.heard('de1', 2, 300, [shop, mail]);
  expect(mail.kept).toEqual([['de1', 300]]);
});

test('a node that watches nothing any more is heard again with the same assignment', () => {
  const { all } = assignments();
  const shop = entryOf('shop');
  all.put('de1', [shop]);
  for (const since of [100, Number.POSITIVE_INFINITY, 500]) all.heard('de1', 1, since, [shop]);
  expect(shop.kept.map(([, since]) => since)).toEqual([100, null, 500]);
});

test('an assignment is sent once for as long as its targets are the same', () => {
  const { all, sent } = assignments();
  const [shop, mail] = [entryOf('shop'), entryOf('mail')];
  all.put('de1', [shop, mail]);
  all.put('de1', [shop, mail]);
  all.put('de1', [mail]);
  expect(sent.map(({ number, targets }) => [number, targets.map(({ name }) => name)])).toEqual([
    [1, ['shop', 'mail']],
    [2, ['mail']],
  ]);
});

test('a target that is watched anew in the same way is kept since its node has watched it', () => {
  const { all, sent } = assignments();
  const [shop, again, mail] = [entryOf('shop'), entryOf('shop'), entryOf('mail')];
  all.put('de1', [shop, mail]);
  all.put('us1', [shop, mail]);
  all.heard('de1', 1, 100, [shop, mail]);
  for (const node of ['de1', 'us1']) all.put(node, [again, mail]);
  expect(sent).toHaveLength(2);
  expect(again.kept).toEqual([['de1', 100]]);
  expect(mail.kept).toEqual([['de1', 100]]);
  all.heard('us1', 1, 200, [again, mail]);
  expect(again.kept.at(-1)).toEqual(['us1', 200]);
});
