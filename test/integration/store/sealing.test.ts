import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import { createReader } from '#history/create-reader.ts';
import type { HistoryReader, HistoryTarget } from '#history/reader.ts';
import type { TargetStatus } from '#history/verdict-periods.ts';
import { dayMs, hourMs } from '#kernel/units.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import type { Store } from '#store/sqlite.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { down, leaveBehind, openAt, round, start, tempFolder, unanswered, up, vote } from '../../support/store.ts';

const minute = 60_000;
const names = ['mail', 'shop'];
const known = names.map((name): HistoryTarget => ({ name, check: 'tcp', host: name, labels: {}, objective: null }));

interface Played {
  readonly target: string;
  readonly dueAt: number;
  readonly status: TargetStatus;
  readonly outcomes: readonly (Outcome | null)[];
}

interface LatePlayed {
  readonly target: string;
  readonly dueAt: number;
  readonly node: string;
  readonly outcome: Outcome;
}

const nodes = ['de1', 'jp1', 'us1'];

const outcome = fc.oneof(
  { weight: 6, arbitrary: fc.nat(2_000_000).map((micros) => up(micros / 1e6)) },
  { weight: 1, arbitrary: fc.constantFrom('connection refused', 'timed out').map((text) => down(text)) },
  { weight: 1, arbitrary: fc.constant(unanswered()) },
);

const rounds = fc
  .array(
    fc.record({
      target: fc.constantFrom(...names),
      gap: fc.oneof(fc.nat(3 * minute), fc.nat(50 * minute)),
      status: fc.constantFrom<TargetStatus>('up', 'up', 'down', 'partial', 'unknown'),
      outcomes: fc.tuple(outcome, fc.option(outcome), fc.option(outcome)),
    }),
    { minLength: 1, maxLength: 80 },
  )
  .map((list) => {
    let dueAt = start + 20 * hourMs;
    return list.map(({ gap, ...one }): Played => ({ ...one, dueAt: (dueAt += gap + 1) }));
  });

const late = fc.record({
  kind: fc.constant('late' as const),
  of: fc.nat(),
  node: fc.constantFrom(...nodes),
  isNew: fc.boolean(),
  outcome,
});

// At the end there are sealed hours, and what came late into them waits.
const steps = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('seal' as const), pieces: fc.oneof(fc.nat(12), fc.nat(150)) }),
        fc.record({ kind: fc.constant('restart' as const), isKilled: fc.boolean() }),
        late,
      ),
      { maxLength: 25 },
    ),
    fc.array(late, { minLength: 1, maxLength: 5 }),
  )
  .map(([some, last]) => [...some, { kind: 'seal' as const, pieces: 80 }, ...last]);

const spans = fc
  .array(fc.tuple(fc.nat(100 * 60), fc.nat(100 * 60), fc.constantFrom(null, ...nodes)), { minLength: 3, maxLength: 6 })
  .map((some) => [...some, [0, 100 * 60, null] as const]);

/** Everything a reader can be asked, in one value. */
async function readAll(reader: HistoryReader, asked: readonly (readonly [number, number, string | null])[]) {
  const answers: unknown[] = [await reader.now(), await reader.nodes()];
  for (const target of names) answers.push(await reader.rounds(target, { limit: 40 }));
  for (const [a, b, name] of asked) {
    const span = { from: start + Math.min(a, b) * minute, to: start + Math.max(a, b) * minute };
    const node = name === null ? {} : { node: name };
    answers.push(await reader.figures({ ...span, ...node }));
    answers.push(await reader.byTarget({ ...span, ...node }), await reader.byNode(span));
    answers.push(await reader.series({ ...span, ...node, of: { target: 'shop' }, points: 30 }));
    answers.push(await reader.series({ ...span, ...node, stepMs: dayMs }));
  }
  return answers;
}

function recordOf({ target, dueAt, status, outcomes }: Played): RoundRecord {
  const votes = outcomes.flatMap((one, index) => (one === null ? [] : [vote(nodes[index], one)]));
  return round(target, dueAt, { votes, verdict: { status, inMaintenance: false, holdsMs: 10 * minute } });
}

async function recordAll(store: Store, clock: FakeClock, played: readonly Played[]): Promise<void> {
  const stored = played.map(async (one) => store.record(recordOf(one)));
  await clock.advance(3_000);
  await Promise.all(stored);
}

async function recordLate(store: Store, clock: FakeClock, { target, dueAt, node, outcome: one }: LatePlayed) {
  const stored = store.recordLate({ target, dueAt, vote: vote(node, one), at: dueAt + 7 * hourMs });
  await clock.advance(100);
  return stored;
}

test('sealed history equals unsealed history for every query, wherever sealing is cut off and whenever results come late', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, steps, spans, async (played, actions, asked) => {
      using folder = tempFolder();
      const clock = new FakeClock(new Date(start + 60 * hourMs).toISOString());
      let path = join(folder.path, 'sealed.db');
      await using plain = openAt(join(folder.path, 'plain.db'), clock);
      let sealed = openAt(path, clock);
      const reading = (store: Store) => createReader({ source: store.history, targets: () => known, clock });
      try {
        const half = Math.floor(played.length / 2);
        await recordAll(plain, clock, played.slice(0, half));
        await recordAll(sealed, clock, played.slice(0, half));
        await recordAll(plain, clock, played.slice(half));
        await recordAll(sealed, clock, played.slice(half));
        for (const action of actions) {
          if (action.kind === 'seal') {
            for (let piece = 0; piece < action.pieces; piece += 1) sealed.upkeep();
          } else if (action.kind === 'restart') {
            if (action.isKilled) leaveBehind(path, `${path}+`);
            await sealed.close();
            if (action.isKilled) path += '+';
            sealed = openAt(path, clock);
          } else {
            const of = played[action.of % played.length];
            if (of === undefined) continue;
            const late = { ...action, target: of.target, dueAt: of.dueAt + (action.isNew ? 17 : 0) };
            expect(await recordLate(sealed, clock, late)).toBe(await recordLate(plain, clock, late));
          }
        }
        expect(await readAll(reading(sealed), asked)).toEqual(await readAll(reading(plain), asked));
        for (let left = 10_000; sealed.upkeep() && left > 0; left -= 1);
        expect(sealed.upkeepProgress().oldestUnsealed).toBeNull();
        expect(await readAll(reading(sealed), asked)).toEqual(await readAll(reading(plain), asked));
        const again = [sealed, plain].map(async (store) =>
          Promise.all(played.slice(0, 3).map(async (one) => store.record(recordOf(one)))),
        );
        await clock.advance(3_000);
        const [first, second] = await Promise.all(again);
        expect(first).toEqual(second);
        expect(await readAll(reading(sealed), asked)).toEqual(await readAll(reading(plain), asked));
      } finally {
        await sealed.close();
      }
    }),
    // A counterexample that takes long to shrink is told nevertheless.
    { numRuns: 12, interruptAfterTimeLimit: 90_000 },
  );
});

test('how long a verdict held before a kill is in the file once its hours are sealed, though no round came after it', async () => {
  using folder = tempFolder();
  const clock = new FakeClock(new Date(start + 60 * hourMs).toISOString());
  const path = join(folder.path, 'before.db');
  const rounds = [0, 5, 10].map((minutes): Played => {
    const dueAt = start + 20 * hourMs + minutes * minute;
    return { target: 'mail', dueAt, status: 'up', outcomes: [up(), null, null] };
  });
  await using before = openAt(path, clock);
  await recordAll(before, clock, rounds);
  const copy = `${path}+`;
  leaveBehind(path, copy);
  const figures = async (store: Store) =>
    createReader({ source: store.history, targets: () => known, clock }).byTarget({ from: start, to: clock.now() });
  {
    await using after = openAt(copy, clock);
    for (let left = 10_000; after.upkeep() && left > 0; left -= 1);
    expect(await figures(after)).toEqual(await figures(before));
  }
  await using again = openAt(copy, clock);
  expect(await figures(again)).toEqual(await figures(before));
});
