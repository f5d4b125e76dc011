import { createInterface } from 'node:readline';
import { createGate } from '#checks/gate.ts';
import { CheckSpec } from '#checks/index.ts';
import { systemClock as clock } from '#kernel/clock.ts';
import { systemRandom as random } from '#kernel/random.ts';
import { startProber } from './probe-once.ts';

// Runs a check for each line of its input, one after another, and prints its outcome.
const resolver = { resolve: async () => ({ ok: true as const, addresses: [] }) };
const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });

for await (const line of createInterface({ input: process.stdin })) {
  const { spec: given, asnFile } = JSON.parse(line) as { readonly spec: unknown; readonly asnFile?: string };
  const spec = CheckSpec.parse(given);
  const prober = await startProber(spec.type, { clock, random, localAddress: {}, asnFile });
  const outcome = await prober.probe(spec, { gate, signal: new AbortController().signal });
  await prober.close();
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
