import { expect, test } from 'vitest';
import { beforeAll, effectOf, positionAfter, type RecordHead } from '#hubs/position.ts';
import { type ModelRun, runHubs } from '../../support/hub-model.ts';
import { seededRandom } from '../../support/seeded-random.ts';

// SEEDS=1000 tries so many.
const seeds = Number(process.env['SEEDS'] ?? 60);
const steps = 400;

function counting(log: readonly RecordHead[]): ReadonlySet<number> {
  const found = new Set<number>();
  let position = beforeAll;
  for (const [index, record] of log.entries()) {
    const effect = effectOf(position, record, index + 1);
    if (effect === 'counts') found.add(index + 1);
    position = positionAfter(position, record, index + 1, effect);
  }
  return found;
}

function eachRun(isFaulty: boolean, verify: (run: ModelRun, seed: number) => void): void {
  for (let seed = 1; seed <= seeds; seed += 1) verify(runHubs(seededRandom(seed), steps, isFaulty), seed);
}

for (const isFaulty of [false, true]) {
  const server = isFaulty ? 'a server that lets two writers pass' : 'a sound server';

  test(`with ${server}, no two hubs act on one record of one epoch`, () => {
    let acts = 0;
    eachRun(isFaulty, (run, seed) => {
      const byRecord = Map.groupBy(run.acts, ({ epoch, n }) => `${epoch} ${n}`);
      for (const [record, all] of byRecord)
        expect(all.length, `seed ${seed}: record ${record} was acted on by ${all.map(({ hub }) => hub).join()}`).toBe(
          1,
        );
      acts += run.acts.length;
    });
    expect(acts).toBeGreaterThan(10 * seeds);
  });

  test(`with ${server}, one hub leads in each epoch`, () => {
    let terms = 0;
    eachRun(isFaulty, (run, seed) => {
      const epochs = run.terms.map(({ epoch }) => epoch);
      expect(epochs, `seed ${seed}`).toEqual([...new Set(epochs)]);
      terms += epochs.length;
    });
    expect(terms).toBeGreaterThan(seeds);
  });

  test(`with ${server}, no hub acts on a record that turns out void`, () => {
    let voided = 0;
    eachRun(isFaulty, (run, seed) => {
      const counts = counting(run.log);
      voided += run.log.length - counts.size;
      const wrong = run.acts.filter(({ sequence }) => !counts.has(sequence));
      expect(wrong, `seed ${seed}`).toEqual([]);
    });
    if (isFaulty) expect(voided).toBeGreaterThan(0);
    else expect(voided).toBe(0);
  });

  test(`with ${server}, all hubs agree once everything is healed, and one leads`, () => {
    eachRun(isFaulty, ({ positions, leaders, log }, seed) => {
      expect(leaders, `seed ${seed}`).toBe(1);
      for (const position of positions) expect(position, `seed ${seed}`).toEqual(positions[0]);
      expect(positions[0]?.sequence).toBe(log.length);
    });
  });
}
