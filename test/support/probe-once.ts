import { z } from 'zod';
import type { Prober } from '#checks/check.ts';
import {
  type AnyCheck,
  CheckSpec,
  type CheckTypeName,
  checkOf,
  type Outcome,
  type ProbeEnvironment,
} from '#checks/index.ts';
import { nodeTypeOf } from '#checks/node-types.ts';
import { systemClock } from '#kernel/clock.ts';
import { loopbackGate } from './http-check.ts';
import { seededRandom } from './seeded-random.ts';

/** Starts a type as nodes do. */
export async function startProber(
  type: CheckTypeName,
  environment: ProbeEnvironment,
): Promise<Prober<unknown, unknown>> {
  const known = nodeTypeOf(type);
  if (known === null) throw new RangeError(`nodes do not run ${type}`);
  return (await known.load()).start(environment);
}

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
  const prober = await startProber(type, { clock: systemClock, random: seededRandom(), localAddress: {} });
  try {
    return check.Outcome.parse(await prober.probe(CheckSpec.parse(encoded), { gate: loopbackGate(), signal }));
  } finally {
    await prober.close();
  }
}
