import type { NodeEnvironment, ProbeContext } from '../check.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { failed, type Outcome } from '../outcome.ts';
import { reach } from '../reach.ts';
import { converse, type Findings } from './conversation.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';

/** Connects, and where asked for starts TLS, sends, and reads until the expected answer is there. */
export async function probe(spec: Spec, context: ProbeContext, environment: NodeEnvironment): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const { name } = endpoint;
  const destination = { name, family: spec.family, limitMs: spec.timeout, covers: 'check' } as const;
  return reach<Detail>(destination, context, environment, {
    probe: async ({ pinned, phases, signal, connect }) =>
      connect(pinned, portOf(endpoint), async (connection) => {
        const { address } = pinned;
        if (!connection.ok) return failed(connection.failure, { address, phases });
        const { socket, seconds, timedBy, clockSeconds } = connection;
        const findings: Findings = {
          phases: { ...phases, connect: seconds },
          facts: {},
          detail: { timed_by: timedBy, clock_seconds: clockSeconds, answer: null, tls: null },
        };
        const problem = await converse(spec, name, socket, { findings, clock: environment.clock, signal });
        if (problem !== null) return failed(problem, { seconds, address, ...findings });
        return { status: 'up', seconds, address, ...findings };
      }),
  });
}
