import { expect, test } from 'vitest';
import { createSharedDrawing } from '#web/pages/shared-drawing.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function play() {
  const clock = new FakeClock();
  const share = createSharedDrawing<number>(clock);
  let drawings = 0;
  const draw = async (ms: number): Promise<number> => {
    drawings += 1;
    const own = drawings;
    if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
    return own;
  };
  return { clock, ask: async (key: string, ms = 50) => share(key, async () => draw(ms)) };
}

test('what takes long is drawn once for all who ask meanwhile, and for ten times as long afterwards', async () => {
  const { clock, ask } = play();
  const all = [ask('a'), ask('a'), ask('b')];
  await clock.advance(50);
  expect(await Promise.all(all)).toEqual([1, 1, 2]);
  await clock.advance(400);
  expect(await ask('a')).toBe(1);
  await clock.advance(101);
  const next = ask('a');
  await clock.advance(50);
  expect(await next).toBe(3);
});

test('waiting for something before it is drawn is not drawing', async () => {
  const clock = new FakeClock();
  const share = createSharedDrawing<number>(clock);
  let drawings = 0;
  const wait = async (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const ask = async () =>
    share('a', async (begins) => {
      await wait(150);
      begins();
      await wait(5);
      drawings += 1;
      return drawings;
    });
  const first = ask();
  await clock.advance(150);
  await clock.advance(5);
  expect(await first).toBe(1);
  await clock.advance(45);
  expect(await ask()).toBe(1);
  await clock.advance(6);
  const next = ask();
  await clock.advance(150);
  await clock.advance(5);
  expect(await next).toBe(2);
});

test('what takes no time is always drawn anew, and so is what failed', async () => {
  const { ask } = play();
  expect([await ask('a', 0), await ask('a', 0)]).toEqual([1, 2]);
  const share = createSharedDrawing<number>(new FakeClock());
  const failing = share('a', async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await share('a', async () => 1)).toBe(1);
});
