import { tracePath } from '#checks/path/trace.ts';
import type { PathProtocol } from '#checks/path/path-trace.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';

// Measures a path again and again, and prints the CPU milliseconds of one.
const [, , address = '', protocol, count] = process.argv;
const options = {
  address,
  family: 4,
  protocol: protocol as PathProtocol,
  port: protocol === 'tcp' ? 80 : null,
  waitMs: 1_000,
  measuresSize: false,
} as const;
const trace = async () =>
  tracePath(options, { clock: systemClock, random: systemRandom }, new AbortController().signal);

for (let warm = 0; warm < 20; warm += 1) await trace();
const before = process.cpuUsage();
let hops = 0;
for (let done = 0; done < Number(count); done += 1) hops += (await trace()).hops.length;
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuMs: (user + system) / 1e3 / Number(count), hops: hops / Number(count) }));
