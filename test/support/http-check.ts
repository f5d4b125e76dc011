import type { z } from 'zod';
import type { Gate, PinnedAddress, GateRefusal } from '#checks/gate.ts';
import { http } from '#checks/http/index.ts';
import { start as startProber } from '#checks/http/probe.ts';
import type { Detail } from '#checks/http/detail.ts';
import { failure, type Outcome } from '#checks/outcome.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { type Clock, systemClock } from '#kernel/clock.ts';
import { seededRandom } from './seeded-random.ts';

/** A gate that pins every name to 127.0.0.1, but for those it is told to treat otherwise. */
export function loopbackGate(others: Readonly<Record<string, PinnedAddress | GateRefusal>> = {}): Gate {
  return {
    async pin(host) {
      return others[host] ?? { ok: true, address: '127.0.0.1', family: 4, addresses: ['127.0.0.1'], seconds: 0.001 };
    },
    verify: () => null,
  };
}

export const forbidden: GateRefusal = {
  ok: false,
  failure: failure('node', 'forbidden', '10.0.0.1 is a private address'),
  seconds: 0.001,
};

export interface CheckOptions {
  readonly clock?: Clock;
  readonly gate?: Gate;
  readonly signal?: AbortSignal;
}

/** Runs one http check and makes sure that its outcome has the declared shape. */
export async function checkHttp(
  host: string,
  options: Omit<z.input<typeof http.Spec>, 'type' | 'host'> = {},
  { clock = systemClock, gate = loopbackGate(), signal = new AbortController().signal }: CheckOptions = {},
): Promise<Outcome<Detail>> {
  const prober = await startProber({ clock, random: seededRandom(), localAddress: {} });
  try {
    const outcome = await prober.probe(http.Spec.parse({ type: 'http', host, ...options }), { gate, signal });
    return outcomeOf(http.Detail).parse(outcome);
  } finally {
    await prober.close();
  }
}

/** What an outcome says in short: `up 200`, or `down refused` with its source where that is not the target. */
export function inShort(outcome: Outcome<Detail>): string {
  if (outcome.status === 'up') return `up ${outcome.detail.status ?? ''}`;
  const { source, code } = outcome.failure;
  return source === 'target' ? `${outcome.status} ${code}` : `${outcome.status} ${source} ${code}`;
}
