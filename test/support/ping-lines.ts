// Pings what each line of standard input asks for and answers with a line: for use inside a network namespace.
import { createInterface } from 'node:readline';
import { ping } from '../../src/checks/ping/index.ts';
import { start } from '../../src/checks/ping/probe.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { addressGate } from './address-gate.ts';

const prober = await start({ clock: systemClock, random: systemRandom, localAddress: {} });
const { signal } = new AbortController();
process.stdout.write(`${JSON.stringify(prober.capability)}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, spec } = JSON.parse(line) as { id: number; spec: unknown };
  prober.probe(ping.Spec.parse(spec), { gate: addressGate, signal }).then(
    (outcome) => process.stdout.write(`${JSON.stringify({ id, outcome })}\n`),
    (error: unknown) => process.stdout.write(`${JSON.stringify({ id, error: String(error) })}\n`),
  );
}
await prober.close();
