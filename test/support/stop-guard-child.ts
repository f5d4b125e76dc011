import { setTimeout as pause } from 'node:timers/promises';
import { guardStop } from '#cli/run/stop-guard.ts';

// Guards itself again and again, each time relieved a little later while the guard starts, and ends while one starts.
const { signal } = new AbortController();
const rounds = 40;
for (let round = 0; round < rounds; round += 1) {
  const guard = guardStop(signal);
  if (guard === null) break;
  await pause(4 * round);
  guard.relieve();
}
guardStop(signal);
