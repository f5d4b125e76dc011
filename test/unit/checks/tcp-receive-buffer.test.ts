import { expect, test } from 'vitest';
import { receiveLimit, createReceiveBuffer } from '#checks/stream/receive-buffer.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function gather(matches: (answer: Buffer) => boolean) {
  const clock = new FakeClock();
  let looked = 0;
  let matched = 0;
  const answer = createReceiveBuffer(
    (bytes) => {
      looked += bytes.length;
      return matches(bytes);
    },
    clock,
    () => (matched += 1),
  );
  return { clock, answer, looked: () => looked, matched: () => matched };
}

test('an answer that comes byte by byte is looked at a few times as a whole, not with each byte', () => {
  const { answer, looked } = gather(() => false);
  for (let count = 0; count < receiveLimit; count += 1) answer.take(Buffer.from('x'));
  expect(answer.full).toBe(true);
  // Each byte of the first 4 KiB, and then a geometric series.
  expect(looked()).toBeLessThan((4_096 * 4_097) / 2 + 6 * receiveLimit);
});

test('a short answer is looked at with each piece', () => {
  const { answer, matched } = gather((bytes) => bytes.includes('220'));
  answer.take(Buffer.from('2'));
  answer.take(Buffer.from('20'));
  expect(matched()).toBe(1);
});

test('what is not looked at with its piece is looked at a little later, or at the end', async () => {
  const { clock, answer, matched } = gather((bytes) => bytes.at(-1) === 0x21);
  answer.take(Buffer.alloc(20_000));
  answer.take(Buffer.from('!'));
  expect(matched()).toBe(0);
  await clock.advance(20);
  expect(matched()).toBe(1);
  const other = gather((bytes) => bytes.at(-1) === 0x21);
  other.answer.take(Buffer.alloc(20_000));
  other.answer.take(Buffer.from('!'));
  expect(other.answer.look()).toBe(true);
  other.answer[Symbol.dispose]();
  expect(other.clock.pending).toBe(0);
});
