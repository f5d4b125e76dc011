import { z } from 'zod';
import { type AnyCheck, CheckSpec, type CheckTypeName, checkOf, type Outcome } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { loopbackGate } from './http-check.ts';
import { seededRandom } from './seeded-random.ts';

/** Runs one check of any type against loopback, and makes sure that its outcome has the declared shape. */
export async function probeOnce(
  type: CheckTypeName,
  options: Readonly<Record<string, unknown>>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Outcome> {
  const check: AnyCheck = checkOf(type);
  const spec = CheckSpec.parse({ type, ...options });
  // Whatever crosses a wire reads the same at its other end.
  const encoded: unknown = JSON.parse(JSON.stringify(z.encode(CheckSpec, spec)));
  const prober = await check.start({ clock: systemClock, random: seededRandom(), localAddress: {} });
  try {
    return check.Outcome.parse(await prober.probe(CheckSpec.parse(encoded), { gate: loopbackGate(), signal }));
  } finally {
    await prober.close();
  }
}
