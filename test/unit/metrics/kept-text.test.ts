import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createKeptText, type MetricsAsker, partsAtOnce, type WrittenMetrics } from '#metrics/kept-text.ts';
import { createByteParts } from '#metrics/byte-parts.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const person: MetricsAsker = { scraper: null, known: Infinity };
const prometheus = (known: number): MetricsAsker => ({ scraper: 'one', known });
const textIn = ({ pieces }: WrittenMetrics) => gunzipSync(Buffer.concat(pieces)).toString();

/** A text that takes so long, whose writings are counted: `writing 1 for 0`. */
function slowText(seconds: number, births = 0) {
  const clock = new FakeClock();
  let written = 0;
  const state = { births, seconds };
  const kept = createKeptText(clock, async (known) => {
    const number = (written += 1);
    async function* body() {
      await new Promise<void>((resolve) => clock.after(state.seconds * 1_000, resolve));
      yield Buffer.from(`writing ${number} for ${known}`);
    }
    return { births: state.births, body: body() };
  });
  const take = async (asker: MetricsAsker) => {
    const answers: WrittenMetrics[] = [];
    void kept.take(asker).then((found) => answers.push(found));
    return async (ms: number, isAnswered = true) => {
      await clock.advance(ms);
      // Packing takes real time.
      for (let tries = isAnswered ? 1_000 : 0; tries > 0 && answers.length === 0; tries -= 1)
        await new Promise((resolve) => setTimeout(resolve, 2));
      const [answer] = answers;
      return answer === undefined ? null : { text: textIn(answer), ageMs: answer.ageMs };
    };
  };
  return { clock, take, state, kept };
}

/** Has it written once, which takes so long. */
async function written(take: ReturnType<typeof slowText>['take'], ms: number): Promise<void> {
  const asked = await take(person);
  await asked(ms);
}

test('who asks while it is written gets the same', async () => {
  const { take } = slowText(4);
  const [first, second] = [await take(person), await take(person)];
  expect(await first(3_999, false)).toBeNull();
  expect(await first(1)).toEqual({ text: 'writing 1 for Infinity', ageMs: 4_000 });
  expect(await second(0)).toEqual({ text: 'writing 1 for Infinity', ageMs: 4_000 });
});

test('it is written a fifth of the time at the most', async () => {
  const { take } = slowText(2);
  await written(take, 2_000);
  expect(await (await take(person))(7_999)).toMatchObject({ text: 'writing 1 for Infinity' });
  expect(await (await take(person))(0)).toMatchObject({ text: 'writing 1 for Infinity', ageMs: 9_999 });
});

test('it rests no longer than half a minute', async () => {
  const { take, clock } = slowText(10);
  await written(take, 10_000);
  await clock.advance(29_999);
  expect(await (await take(person))(0)).toMatchObject({ text: 'writing 1 for Infinity' });
  await clock.advance(1);
  expect(await (await take(person))(999, false)).toBeNull();
});

test('it rests for at least as long as it was written', async () => {
  const { take, clock } = slowText(32);
  await written(take, 32_000);
  await clock.advance(31_999);
  expect(await (await take(person))(0)).toMatchObject({ text: 'writing 1 for Infinity' });
  await clock.advance(1);
  expect(await (await take(person))(999, false)).toBeNull();
});

test('more parts than there is room for at once come whole', async () => {
  const parts = createByteParts(4, partsAtOnce);
  async function* body() {
    for (let number = 10; number < 99; number += 1) {
      const part = parts.add(Buffer.from(`${number} `));
      if (part !== null) yield part;
    }
    const last = parts.end();
    if (last !== null) yield last;
  }
  const kept = createKeptText(new FakeClock(), async () => ({ births: 0, body: body() }));
  const numbers = Array.from({ length: 89 }, (_, index) => `${index + 10} `);
  expect(textIn(await kept.take(person))).toBe(numbers.join(''));
});

test('what was written before is given after a second, and the new one to the next', async () => {
  const { take, clock } = slowText(4);
  await written(take, 4_000);
  await clock.advance(16_000);
  const late = await take(person);
  expect(await late(999, false)).toBeNull();
  expect(await late(1)).toEqual({ text: 'writing 1 for Infinity', ageMs: 21_000 });
  expect(await (await take(person))(0, false)).toBeNull();
  await clock.advance(3_000);
  expect(await (await take(person))(0)).toEqual({ text: 'writing 2 for Infinity', ageMs: 4_000 });
});

test('a text that is soon written is new', async () => {
  const { take, clock } = slowText(0.1);
  await written(take, 100);
  await clock.advance(400);
  expect(await (await take(person))(100)).toEqual({ text: 'writing 2 for Infinity', ageMs: 100 });
});

test('what is older than two minutes is not given', async () => {
  const { take, clock } = slowText(25);
  const first = await take(person);
  await first(25_000);
  await clock.advance(95_000);
  const asked = await take(person);
  expect(await asked(24_999, false)).toBeNull();
  expect(await asked(1)).toMatchObject({ text: 'writing 2 for Infinity', ageMs: 25_000 });
});

test('what takes long is written anew before it is too old', async () => {
  const { take, clock } = slowText(42);
  const first = await take(person);
  await first(42_000);
  await clock.advance(30_000);
  const second = await take(person);
  expect(await second(1_000)).toMatchObject({ text: 'writing 1 for Infinity', ageMs: 73_000 });
  await clock.advance(41_000);
  const third = await take(person);
  expect(await third(0)).toEqual({ text: 'writing 2 for Infinity', ageMs: 42_000 });
});

test('what is new to a scraper is at 0 for it, and for no other one', async () => {
  const { take } = slowText(4, 7);
  expect(await (await take(prometheus(0)))(4_000)).toMatchObject({ text: 'writing 1 for 0' });
  // It has seen these at 0 already.
  expect(await (await take(prometheus(7)))(0)).toMatchObject({ text: 'writing 1 for 0' });
  expect(await (await take({ scraper: 'two', known: 7 }))(4_000)).toMatchObject({ text: 'writing 2 for 7' });
  expect(await (await take({ scraper: 'three', known: 9 }))(0)).toMatchObject({ text: 'writing 2 for 7' });
  expect(await (await take(person))(0)).toMatchObject({ text: 'writing 2 for 7' });
});

test('a failure is that of who asked, and the next one tries again', async () => {
  const clock = new FakeClock();
  let tries = 0;
  const kept = createKeptText(clock, async () => {
    tries += 1;
    if (tries === 1) throw new Error('no');
    return {
      births: 0,
      body: (async function* body() {
        yield Buffer.from('yes');
      })(),
    };
  });
  await expect(kept.take(person)).rejects.toThrow('no');
  expect(textIn(await kept.take(person))).toBe('yes');
});
