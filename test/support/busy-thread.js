import { isMainThread } from 'node:worker_threads';

// Loaded before the program: on SIGUSR2 its thread computes for as many milliseconds as BUSY_MS says, and comes to nothing else.
if (isMainThread)
  process.on('SIGUSR2', () => {
    const until = performance.now() + Number(process.env.BUSY_MS);
    while (performance.now() < until);
  });
