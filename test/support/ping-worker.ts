// A thread that pings 127.0.0.1 for as long as it lives, or idles with its sockets open, and says when it began.
import { parentPort, workerData } from 'node:worker_threads';
import { ping } from '../../src/checks/ping/index.ts';
import { start } from '../../src/checks/ping/probe.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { addressGate } from './address-gate.ts';

const prober = await start({ clock: systemClock, random: systemRandom, localAddress: {} });
const spec = ping.Spec.parse({ type: 'ping', host: '127.0.0.1', count: 20, interval: '10ms' });
const { signal } = new AbortController();
await prober.probe({ ...spec, count: 1 }, { gate: addressGate, signal });
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage('pinging');
if (workerData === 'busy') for (;;) await prober.probe(spec, { gate: addressGate, signal });
