// The thread that measures. It takes jobs and answers each with its round trips in milliseconds.
import { parentPort } from 'node:worker_threads';
import { setTimeout as pause } from 'node:timers/promises';
import { ping } from '../../../src/checks/ping/index.ts';
import { start as startPing } from '../../../src/checks/ping/probe.ts';
import { tcp } from '../../../src/checks/tcp/index.ts';
import { start as startTcp } from '../../../src/checks/tcp/probe.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { addressGate } from '../../support/address-gate.ts';

export interface Job {
  readonly method: keyof typeof methods;
  readonly host: string;
  readonly samples: number;
}

const environment = { clock: systemClock, random: systemRandom, localAddress: {} };
const context = { gate: addressGate, signal: new AbortController().signal };
const pings = await startPing(environment);
const connects = await startTcp(environment);
const perSeries = 20;

const methods = {
  async ping(host: string, samples: number) {
    const spec = ping.Spec.parse({ type: 'ping', host, count: perSeries, interval: '25ms' });
    const seconds: number[] = [];
    while (seconds.length < samples) {
      const outcome = await pings.probe(spec, context);
      if (outcome.status !== 'up' || outcome.detail.timed_by !== 'kernel') throw new Error(JSON.stringify(outcome));
      seconds.push(...outcome.detail.attempts.map((attempt) => attempt.seconds));
    }
    return seconds;
  },

  async tcp(host: string, samples: number) {
    const spec = tcp.Spec.parse({ type: 'tcp', host: `${host}:80` });
    return repeat(samples, async () => {
      const outcome = await connects.probe(spec, context);
      if (outcome.status !== 'up' || outcome.seconds === null) throw new Error(JSON.stringify(outcome));
      return outcome.seconds;
    });
  },

  blackboxIcmp: async (host: string, samples: number) =>
    repeat(samples, async () => scrape(`icmp&target=${host}`, /^probe_icmp_duration_seconds\{phase="rtt"\} (\S+)$/m)),

  blackboxTcp: async (host: string, samples: number) =>
    repeat(samples, async () => scrape(`tcp_connect&target=${host}:80`, /^probe_duration_seconds (\S+)$/m)),
};

async function repeat(samples: number, take: () => Promise<number>): Promise<number[]> {
  const seconds: number[] = [];
  while (seconds.length < samples) {
    seconds.push(await take());
    await pause(3);
  }
  return seconds;
}

async function scrape(query: string, pattern: RegExp): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:9115/probe?module=${query}`)).text();
  const seconds = Number(pattern.exec(text)?.[1]);
  if (!(seconds > 0)) throw new Error(`blackbox_exporter says: ${text}`);
  return seconds;
}

parentPort?.on('message', ({ method, host, samples }: Job) => {
  methods[method](host, samples).then(
    (seconds) => answer({ roundTripsMs: seconds.map((value) => value * 1_000) }),
    (error: unknown) => answer({ error: String(error) }),
  );
});
answer({ ready: true });

function answer(message: object): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(message);
}
