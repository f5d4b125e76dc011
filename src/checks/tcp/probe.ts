import type { ProbeEnvironment, ProbeContext } from '../check.ts';
import type { HandshakeTime } from '../connection.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { streamFailure } from '../network-errors.ts';
import { failed, type Failure, type Outcome } from '../outcome.ts';
import { reach, type ProbeDestination } from '../reach.ts';
import { handshakeFailure } from '../tls-connection.ts';
import { converse, type Findings } from '../stream/conversation.ts';
import type { Detail } from './detail.ts';
import { conversationOf, type Spec, tlsSettingsOf } from './spec.ts';

/** Connects, and where asked for starts TLS, sends, and reads until the expected answer is there. */
export async function probe(
  spec: Spec,
  context: ProbeContext,
  environment: ProbeEnvironment,
): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const { name } = endpoint;
  const destination = { name, family: spec.family, limitMs: spec.timeout, covers: 'check' } as const;
  return reach<Detail>(destination, context, environment, {
    probe: async ({ pinned, phases, signal, connect }) =>
      connect(pinned, portOf(endpoint), async (connection) => {
        const { address } = pinned;
        if (connection.ok) {
          const findings = findingsOf(connection, phases);
          const problem = await converse(conversationOf(spec), connection.socket, {
            tls: tlsSettingsOf(spec),
            name,
            findings,
            clock: environment.clock,
            signal,
          });
          return conclude(problem, connection, { address, ...findings });
        }
        const { reset } = connection;
        if (reset === null) return failed(connection.failure, { address, phases });
        return conclude(afterReset(spec, reset.error), reset, { address, ...findingsOf(reset, phases) });
      }),
  });
}

type TcpFindings = Findings & { readonly detail: Detail };

function findingsOf(
  { seconds, timedBy, clockSeconds }: HandshakeTime,
  phases: ProbeDestination['phases'],
): TcpFindings {
  return {
    phases: { ...phases, connect: seconds },
    facts: {},
    detail: { timed_by: timedBy, clock_seconds: clockSeconds, answer: null, tls: null },
  };
}

function conclude(
  problem: Failure | null,
  { seconds }: HandshakeTime,
  found: TcpFindings & { readonly address: string },
): Outcome<Detail> {
  return problem === null ? { status: 'up', seconds, ...found } : failed(problem, { seconds, ...found });
}

// A target that accepts and resets has accepted: what else was asked of it has failed.
function afterReset(spec: Spec, error: unknown): Failure | null {
  const [first] = conversationOf(spec);
  if (first === undefined) return null;
  return first.do === 'starttls' ? handshakeFailure(error) : streamFailure(error);
}
