import { isIP } from 'node:net';
import { deadline } from '#kernel/clock.ts';
import type { NodeEnvironment, ProbeContext } from '../check.ts';
import { closeSocket, openConnection } from '../connection.ts';
import { parseEndpoint, portOf } from '../endpoint.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import type { ReadHandshake } from '../tcp-info.ts';
import { converse, type Findings } from './conversation.ts';
import type { Detail, Spec } from './spec.ts';

export interface ProbeOptions extends ProbeContext {
  readonly environment: NodeEnvironment;
  readonly readHandshake: ReadHandshake;
}

/** Resolves, connects, and where asked for starts TLS, sends, and reads until the expected answer is there. */
export async function probe(spec: Spec, options: ProbeOptions): Promise<Outcome<Detail>> {
  const { gate, environment, readHandshake } = options;
  const endpoint = parseEndpoint(spec.host);
  if (!endpoint.ok) return failed(failure('node', 'internal', `the host ${endpoint.message}`));
  using limit = deadline(environment.clock, spec.timeout, options.signal);
  const pinned = await gate.pin(endpoint.name, { family: spec.family, signal: limit.signal });
  options.signal.throwIfAborted();
  const resolve = isIP(endpoint.name) === 0 ? { resolve: pinned.seconds } : {};
  if (!pinned.ok) return failed(pinned.failure, { phases: resolve });
  const { address } = pinned;
  const connection = await openConnection(pinned, portOf(endpoint), {
    environment,
    gate,
    readHandshake,
    signal: limit.signal,
  });
  if (!connection.ok) {
    options.signal.throwIfAborted();
    return failed(connection.failure, { address, phases: resolve });
  }
  const { socket, seconds, timedBy, clockSeconds } = connection;
  const findings: Findings = {
    phases: { ...resolve, connect: seconds },
    facts: {},
    detail: { timed_by: timedBy, clock_seconds: clockSeconds, answer: null, tls: null },
  };
  try {
    const problem = await converse(spec, endpoint.name, socket, {
      findings,
      clock: environment.clock,
      signal: limit.signal,
    });
    options.signal.throwIfAborted();
    if (problem !== null) return failed(problem, { seconds, address, ...findings });
    return { status: 'up', seconds, address, ...findings };
  } finally {
    await closeSocket(socket);
  }
}
