import { type ProbeEnvironment, type ProbeContext, startOverTcp } from '../check.ts';
import { closeSocket, type Connection, type HandshakeTime } from '../connection.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { measureFamilies } from '../families.ts';
import { goThroughProxy, placeOf, proxyFailure } from '../http/tunnel.ts';
import { streamFailure } from '../network-errors.ts';
import { failed, type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import { reach, type ProbeDestination } from '../reach.ts';
import { handshakeFailure } from '../tls-connection.ts';
import { converse, type Findings } from '../stream/conversation.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';
import { conversationOf, tlsSettingsOf } from './conversation.ts';

export const start = startOverTcp(probe);

/** Connects, and where asked for starts TLS, sends, and reads until the expected answer is there. */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<Detail>> {
  const { proxy, timeout: limitMs } = spec;
  // Only the reader of the configuration reads files.
  if (proxy?.password_file !== undefined)
    return failed(failure('node', 'unsupported', 'the file of proxy.password_file was not read'));
  const endpoint = endpointOf(spec.host);
  const { name, port } = proxy === undefined ? { name: endpoint.name, port: portOf(endpoint) } : placeOf(proxy);
  const ofProxy = (reason: Failure) => (proxy === undefined ? reason : proxyFailure(proxy, reason));
  return measureFamilies<Detail>(spec.family, async (family) =>
    reach<Detail>({ name, family, limitMs, covers: 'check' }, context, environment, {
      probe: async (site) =>
        site.connect(site.pinned, port, async (connection) => {
          const { phases } = site;
          const { address } = site.pinned;
          if (connection.ok) return talk(spec, connection, site, environment);
          const { reset } = connection;
          if (reset === null || proxy !== undefined) return failed(ofProxy(connection.failure), { address, phases });
          return conclude(afterReset(spec, reset.error), reset, { address, ...findingsOf(reset, phases) });
        }),
      unreached: (refused, phases) => failed(ofProxy(refused.failure), { phases }),
    }),
  );
}

/** All that is done on an open connection, through the proxy if there is one. */
async function talk(
  spec: Spec,
  connection: Connection,
  { pinned: { address }, phases, signal, pin }: ProbeDestination,
  { clock }: ProbeEnvironment,
): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const { name } = endpoint;
  const findings = findingsOf(connection, phases);
  const known = { address, ...findings };
  const { arrivedAt } = connection;
  const options = { tls: tlsSettingsOf(spec), name, findings, clock, arrivedAt, signal };
  if (spec.proxy === undefined) {
    return conclude(await converse(conversationOf(spec), connection.socket, options), connection, known);
  }
  const start = clock.elapsed();
  let resolveSeconds = 0;
  const through = await goThroughProxy(connection.socket, { name, port: portOf(endpoint) }, spec.proxy, {
    network: { pin, signal },
    clock,
    onResolved(seconds) {
      resolveSeconds = seconds;
      findings.phases.resolve = (phases.resolve ?? 0) + seconds;
    },
  });
  const end = through.ok ? arrivedAt() : clock.elapsed();
  findings.phases.proxy = Math.max(0, toSeconds(end - start) - resolveSeconds);
  if (!through.ok) return failed(through.failure, known);
  try {
    const problem = await converse(conversationOf(spec), through.socket, options);
    // The way to the target is that to the proxy and from there on.
    const seconds = Math.round((connection.seconds + findings.phases.proxy) * 1e6) / 1e6;
    return conclude(problem, { ...connection, seconds }, known);
  } finally {
    if (through.socket !== connection.socket) await closeSocket(through.socket);
  }
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
  { seconds }: Pick<HandshakeTime, 'seconds'>,
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
