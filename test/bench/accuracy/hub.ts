// Stands for the hub: hands jobs from standard input to the measuring thread while its own loop is free or, with the
// argument "blocked", held up for 30 of every 75 ms.
import { createInterface } from 'node:readline';
import { argv } from 'node:process';
import { Worker } from 'node:worker_threads';

const worker = new Worker(new URL('sampler.ts', import.meta.url));
worker.on('message', (message: unknown) => process.stdout.write(`${JSON.stringify(message)}\n`));

if (argv[2] === 'blocked') {
  setInterval(() => {
    const end = performance.now() + 30;
    while (performance.now() < end);
  }, 75);
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin
for await (const line of createInterface({ input: process.stdin })) worker.postMessage(JSON.parse(line));
process.exit();
