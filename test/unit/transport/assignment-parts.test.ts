import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckSpec } from '#checks/index.ts';
import { messageLimit } from '#protocol/nodes.ts';
import { AssignMessage, WireTarget, type AssignedTarget } from '#protocol/watching.ts';
import { partMessage, partsOf } from '#transport/nats/assignment-parts.ts';

const target = (name: string, revision = 'one'): AssignedTarget => ({
  name,
  revision,
  schedule: { kind: 'every', everyMs: 60_000 },
  spec: CheckSpec.parse({ type: 'tcp', host: `${name}.example.com:443` }),
  policy: 'private',
  deadlineMs: 5_000,
});
const many = (count: number) => Array.from({ length: count }, (_, index) => target(`t${index}`));
const told = (parts: ReturnType<typeof partsOf>) =>
  parts.flatMap(({ targets }) => targets.map((text) => WireTarget.parse(JSON.parse(text)).name));

test('of ten thousand targets of which one is another, one new and one gone, a message of a few hundred bytes tells', () => {
  const before = { number: 7, targets: many(10_000) };
  const targets = [
    ...many(10_000).filter(({ name }) => name !== 't5' && name !== 't6'),
    target('t5', 'two'),
    target('x'),
  ];
  const parts = partsOf({ number: 8, targets }, before);
  expect(told(parts)).toEqual(['t5', 'x']);
  expect(parts.flatMap(({ removed = [] }) => removed)).toEqual(['t6']);
  expect(parts.every(({ base }) => base === 7)).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(parts))).toBeLessThan(700);
});

test('where nothing is known of what is watched, or nearly everything is another, the whole is told', () => {
  const next = { number: 8, targets: many(10) };
  expect(partsOf(next, null)).toEqual([{ targets: expect.any(Array) as unknown }]);
  const others = { number: 7, targets: many(10).map(({ name }) => target(name, 'two')) };
  expect(partsOf(next, others)).toEqual(partsOf(next, null));
  expect(partsOf({ number: 9, targets: [] }, next)).toEqual([{ targets: [] }]);
});

test('the messages of ten thousand targets hold them once each, in less than a message may have', () => {
  const parts = partsOf({ number: 8, targets: many(10_000) }, null);
  const messages = parts.map((_, index) => partMessage(parts, index, { epoch: 'one', number: 8 }));
  for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(messageLimit);
  const read = messages.map((message) => AssignMessage.parse(JSON.parse(message)));
  expect(read.map(({ epoch, number, part }) => [epoch, number, part])).toEqual(
    parts.map((_, index) => ['one', 8, { index, of: parts.length }]),
  );
  const names = read.flatMap(({ targets }) => targets.map((one) => WireTarget.parse(one).name));
  expect(names).toEqual(many(10_000).map(({ name }) => name));
});

test('nothing new is an empty message, for its number', () => {
  const targets = many(3);
  expect(partsOf({ number: 8, targets }, { number: 7, targets })).toEqual([{ base: 7, targets: [] }]);
});

test('whatever changes, what is told makes of the one assignment the other', () => {
  const targets = fc
    .uniqueArray(fc.nat(40), { maxLength: 30 })
    .chain((numbers) =>
      fc.tuple(
        ...numbers.map((number) => fc.constantFrom('one', 'two').map((revision) => target(`t${number}`, revision))),
      ),
    );
  const content = (all: Iterable<{ readonly name: string; readonly revision: string }>) =>
    [...all].map(({ name, revision }) => `${name} ${revision}`).toSorted();
  fc.assert(
    fc.property(targets, targets, (before, after) => {
      const parts = partsOf({ number: 2, targets: after }, { number: 1, targets: before });
      const isWhole = parts.some(({ base }) => base === undefined);
      const made = new Map(isWhole ? [] : before.map((one) => [one.name, { name: one.name, revision: one.revision }]));
      for (const { removed = [] } of parts) for (const name of removed) made.delete(name);
      for (const one of parts.flatMap((part) => part.targets.map((text) => WireTarget.parse(JSON.parse(text)))))
        made.set(one.name, { name: one.name, revision: one.revision });
      expect(content(made.values())).toEqual(content(after));
    }),
  );
});
