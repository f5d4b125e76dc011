import { expect, test } from 'vitest';
import type { LoadableType, LoadedType } from '#checks/node-types.ts';
import { createProbers } from '#node/probers.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { up } from '../../support/votes.ts';

type StartedType = Awaited<ReturnType<LoadedType['start']>>;

const prober = (close: StartedType['close'] = async () => {}): StartedType => ({
  capability: { able: true, has: ['all'] },
  probe: async () => up(),
  close,
});
const typeOf = (start: LoadedType['start']): LoadableType => ({ load: async () => ({ start }) });
const never = async <Value>() => new Promise<Value>(() => {});

function createWorld(types: Readonly<Record<string, LoadableType>>) {
  const clock = new FakeClock();
  const problems: string[] = [];
  const environment = { clock, random: seededRandom(1), localAddress: {} };
  const warn = (problem: string) => problems.push(problem);
  return { clock, problems, probers: createProbers(environment, { warn, types: new Map(Object.entries(types)) }) };
}

const resultOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'open',
    (error: unknown) => String(error),
  );

test('a check type that does not open is waited for once, for 20 seconds, and used when it opens after all', async () => {
  const opens = Promise.withResolvers<StartedType>();
  const { clock, problems, probers } = createWorld({
    slow: typeOf(async () => opens.promise),
    good: typeOf(async () => prober()),
  });
  const first = resultOf(probers.open('slow'));
  const second = resultOf(probers.open('slow'));
  expect(await resultOf(probers.open('good'))).toBe('open');
  await clock.advance(20_000);
  expect(await first).toBe('Error: it was not open within 20 s');
  expect(await second).toBe('Error: it was not open within 20 s');
  expect(await resultOf(probers.open('slow'))).toBe('Error: it was not open within 20 s');
  expect(problems).toEqual(['cannot open the check type slow: it was not open within 20 s']);
  expect(probers.opened('slow')).toBeUndefined();
  opens.resolve(prober());
  await clock.advance(0);
  expect(probers.opened('slow')).toBeDefined();
  expect(await resultOf(probers.open('slow'))).toBe('open');
});

test('a node goes on without the check types that hang or fail, and says so', async () => {
  const { clock, problems, probers } = createWorld({
    hanging: typeOf(never),
    broken: typeOf(async () => Promise.reject(new Error('no memory'))),
    good: typeOf(async () => prober()),
    plain: { load: never, isAbleEverywhere: true },
  });
  const capabilities = probers.capabilities();
  await clock.advance(20_000);
  expect(await capabilities).toEqual({
    hanging: { able: false, reason: 'it was not open within 20 s' },
    broken: { able: false, reason: 'no memory' },
    good: { able: true, has: ['all'] },
    plain: { able: true },
  });
  expect(problems).toEqual([
    'cannot open the check type hanging: it was not open within 20 s',
    'cannot open the check type broken: no memory',
  ]);
});

test('a check type that does not close holds up neither the others nor the end', async () => {
  const closed: string[] = [];
  const opens = Promise.withResolvers<StartedType>();
  const { clock, problems, probers } = createWorld({
    hanging: typeOf(async () => prober(never)),
    broken: typeOf(async () => prober(async () => Promise.reject(new Error('no such socket')))),
    good: typeOf(async () => prober(async () => void closed.push('good'))),
    late: typeOf(async () => opens.promise),
  });
  for (const type of ['hanging', 'broken', 'good']) await probers.open(type);
  const late = resultOf(probers.open('late'));
  let isOver = false;
  const closing = probers.close().then(() => (isOver = true));
  await clock.advance(1_999);
  expect({ closed, isOver }).toEqual({ closed: ['good'], isOver: false });
  await clock.advance(1);
  await closing;
  expect(problems.toSorted()).toEqual([
    'cannot close the check type broken: no such socket',
    'cannot close the check type hanging: it was not closed within 2 s',
  ]);
  opens.resolve(prober(async () => void closed.push('late')));
  await late;
  expect(closed).toEqual(['good', 'late']);
});
