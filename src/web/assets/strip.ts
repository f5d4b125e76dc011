import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';

// A thread for some milliseconds, because its warning that this function is new can be suppressed.
const sources = z.record(z.string(), z.string()).parse(workerData);
const stripped = Object.entries(sources).map(([name, source]) => [name, stripTypeScriptTypes(source)] as const);
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(Object.fromEntries(stripped));
