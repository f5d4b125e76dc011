import { expect, test } from 'vitest';
import { awaited } from '#cli/shared/progress.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const seen = (interactive: boolean) => {
  const printed: string[] = [];
  return { interactive, printed, printError: (text: string) => void printed.push(text) };
};

test('what takes longer than a second is told each second on a terminal, and the line is taken away', async () => {
  const clock = new FakeClock();
  const person = seen(true);
  const work = Promise.withResolvers<string>();
  let done = 0;
  const result = awaited(work.promise, () => `${done} MB`, person, clock);
  await clock.advance(999);
  expect(person.printed).toEqual([]);
  done = 12;
  await clock.advance(1);
  done = 30;
  await clock.advance(1_000);
  expect(person.printed).toEqual(['\r\u{1b}[K12 MB, 1 s', '\r\u{1b}[K30 MB, 2 s']);
  work.resolve('done');
  expect(await result).toBe('done');
  expect(person.printed.at(-1)).toBe('\r\u{1b}[K');
  await clock.advance(5_000);
  expect(person.printed).toHaveLength(3);
});

test('where no person looks, and where work fails within a second, nothing is told', async () => {
  const clock = new FakeClock();
  const program = seen(false);
  const work = Promise.withResolvers<never>();
  const result = awaited(work.promise, () => 'x', program, clock);
  await clock.advance(10_000);
  work.reject(new Error('no'));
  await expect(result).rejects.toThrow('no');
  expect(program.printed).toEqual([]);
});
