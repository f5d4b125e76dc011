import { expect, test } from 'vitest';
import { beginBinding, startThread, terminate } from '#kernel/threads.ts';

test('the thread that starts others binds while one of them is ended', async () => {
  const worker = startThread(new URL('data:text/javascript,setInterval(() => {}, 1_000)'), { name: 'waits' });
  const ended = terminate(worker);
  // It would wait for itself.
  {
    using _binding = beginBinding();
  }
  await ended;
  expect(worker.threadId).toBe(-1);
});
