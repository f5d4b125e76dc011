import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import { readOutcome } from '#protocol/nodes.ts';
import { createOutcomeReader } from '#transport/nats/outcome-reader.ts';

const written = {
  status: 'up',
  seconds: 0.25,
  address: '192.0.2.1',
  phases: { resolve: 0.01, connect: 0.02 },
  facts: {},
  detail: { answer: null, tls: null, timed_by: 'kernel', clock_seconds: null },
};
const again = (other: object = {}): object => structuredClone({ ...written, ...other });
const watched = () => createOutcomeReader(() => true);

test('an outcome that is as the last one but for its times shares all else with it', () => {
  const read = watched();
  const first = read('shop', 'tcp', again());
  const second = read('shop', 'tcp', again({ seconds: 0.5, phases: { resolve: 0.3, connect: 0.2 } }));
  expect(second).toEqual({ ...written, seconds: 0.5, phases: { resolve: 0.3, connect: 0.2 } });
  expect(second?.detail).toBe(first?.detail);
  expect(second?.facts).toBe(first?.facts);
  expect(read('shop', 'tcp', again())?.detail).toBe(first?.detail);
});

test('an outcome with another detail is read by its schema, and shares what is the same', () => {
  const read = watched();
  const first = read('shop', 'tcp', again());
  const detail = { ...written.detail, clock_seconds: 0.3 };
  const second = read('shop', 'tcp', again({ detail }));
  expect(second).toEqual({ ...written, detail });
  expect(second?.phases).toBe(first?.phases);
  expect(read('shop', 'tcp', again({ detail: { ...detail, clock_seconds: -1 } }))).toBeNull();
});

test('the first outcome of a target shares what is the same with the last one of another target', () => {
  const read = watched();
  const first = read('shop', 'tcp', again());
  const other = read('mail', 'tcp', again({ seconds: 0.5, address: '192.0.2.2' }));
  expect(other).toEqual({ ...written, seconds: 0.5, address: '192.0.2.2' });
  expect(other?.detail).toBe(first?.detail);
  expect(other?.facts).toBe(first?.facts);
});

test('nothing is kept of targets that are not watched, and nothing is shared by those of other types', () => {
  const unwatched = createOutcomeReader(() => false);
  expect(unwatched('shop', 'tcp', again())?.detail).not.toBe(unwatched('shop', 'tcp', again())?.detail);
  const read = watched();
  read('shop', 'tcp', again());
  expect(read('shop', 'http', again())).toBeNull();
  expect(read('shop', 'tcp', again({ status: 'down' }))).toBeNull();
});

test('it reads whatever a node writes exactly as the schema does', () => {
  const value = fc.oneof(
    fc.constantFrom(null, 'up', 'down', '', 0, 0.5, -1, 2e6, true, [], {}),
    fc.record({ resolve: fc.double({ noNaN: true }), connect: fc.constantFrom(0.1, -1, null, '1') }),
    fc.constantFrom({ loss: 0.5 }, { loss: '1' }, { nonsense: 1 }, { ...written.detail, more: 1 }),
    fc.constantFrom({ ...written.detail, timed_by: 'sun' }, { ...written.detail, clock_seconds: 1 }),
  );
  const key = fc.constantFrom('status', 'seconds', 'address', 'phases', 'facts', 'detail', 'failure');
  const changed = fc.tuple(key, value, fc.boolean()).map(([name, other, isGone]) => {
    const outcome = { ...written, [name]: other };
    return isGone ? Object.fromEntries(Object.entries(outcome).filter(([one]) => one !== name)) : outcome;
  });
  fc.assert(
    fc.property(fc.array(fc.oneof(changed, fc.constant(written)), { minLength: 1, maxLength: 6 }), (all) => {
      const read = watched();
      for (const one of all) {
        const text = JSON.stringify(one);
        const expected: Outcome | null = readOutcome('tcp', JSON.parse(text));
        expect(read('shop', 'tcp', JSON.parse(text))).toEqual(expected);
      }
    }),
  );
});
