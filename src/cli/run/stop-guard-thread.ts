import { workerData } from 'node:worker_threads';
import { createStopWatch } from '#kernel/stop-watch.ts';

if (!(workerData instanceof SharedArrayBuffer))
  throw new Error('cli/run/stop-guard-thread.ts runs as a worker thread only');
const watch = await createStopWatch(workerData);
watch.lookForever();
