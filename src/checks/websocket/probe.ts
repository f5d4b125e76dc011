import type { Socket } from 'node:net';
import { type Clock, DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import type { NodeEnvironment, ProbeContext } from '../check.ts';
import { closeSocket } from '../connection.ts';
import { endpointOf, portOf } from '../endpoint.ts';
import { streamFailure } from '../network-errors.ts';
import { failed, type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import { describeExpectation } from '../payload.ts';
import { reach } from '../reach.ts';
import type { Findings } from '../tcp/conversation.ts';
import { secure } from '../tcp/secure.ts';
import { handshakeFailure } from '../tls-connection.ts';
import type { Detail } from './detail.ts';
import { Closed, hold, Refused } from './session.ts';
import { isSecure, type Spec } from './spec.ts';

interface Found {
  readonly findings: Omit<Findings, 'detail'>;
  readonly detail: Detail;
  seconds: number | null;
}

interface Talking {
  readonly spec: Spec;
  readonly found: Found;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When the check began to connect. */
  readonly start: number;
}

/** Opens a WebSocket (RFC 6455), sends a message and waits for one, as the spec asks for. */
export async function probe(spec: Spec, context: ProbeContext, environment: NodeEnvironment): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const { clock } = environment;
  const destination = { name: endpoint.name, family: spec.family, limitMs: spec.timeout, covers: 'check' } as const;
  return reach<Detail>(destination, context, environment, {
    async probe({ pinned, phases, signal, connect }) {
      const start = clock.elapsed();
      return connect(pinned, portOf(endpoint), async (connection) => {
        const { address } = pinned;
        if (!connection.ok) {
          const { reset, failure: reason } = connection;
          const fault = isSecure(endpoint) ? handshakeFailure : streamFailure;
          if (reset === null) return failed(reason, { address, phases });
          return failed(fault(reset.error), { address, phases: { ...phases, connect: reset.seconds } });
        }
        const found: Found = {
          findings: { phases: { ...phases, connect: connection.seconds }, facts: {} },
          detail: { status: null, protocol: null, answer: null, tls: null },
          seconds: null,
        };
        const talking = { spec, found, clock, signal, start };
        const wrong = isSecure(endpoint)
          ? await talkSecurely(connection.socket, endpoint.name, talking)
          : await talk(connection.socket, talking);
        const { findings, detail, seconds } = found;
        const known = { address, ...findings, detail };
        if (wrong !== null || seconds === null) {
          return failed(wrong ?? failure('target', 'protocol', 'there was no answer'), { seconds, ...known });
        }
        return { status: 'up', seconds, ...known };
      });
    },
  });
}

async function talkSecurely(socket: Socket, name: string, talking: Talking): Promise<Failure | null> {
  const { spec, found, clock, signal } = talking;
  const { findings } = found;
  const secured = await secure(socket, name, spec.tls, { findings, clock, signal, alpn: ['http/1.1'] });
  found.detail.tls = secured.tls;
  if (!secured.ok) return secured.failure;
  try {
    return await talk(secured.socket, talking);
  } finally {
    await closeSocket(secured.socket);
  }
}

async function talk(socket: Socket, { spec, found, clock, signal, start }: Talking): Promise<Failure | null> {
  const { findings, detail } = found;
  const asked = clock.elapsed();
  let openedAt: number | null = null;
  const holding = hold(socket, {
    spec,
    url: spec.host,
    onOpen(protocol) {
      openedAt = clock.elapsed();
      findings.phases.first_byte = toSeconds(openedAt - asked);
      detail.protocol = protocol === '' ? null : protocol.slice(0, 100);
    },
    onMessage(message) {
      detail.answer ??= singleLine(message.subarray(0, 1_000).toString('utf8'));
    },
  });
  try {
    await orAbort(holding, signal);
    const now = clock.elapsed();
    if (openedAt !== null && spec.expect !== undefined) findings.phases.transfer = toSeconds(now - openedAt);
    found.seconds = toSeconds(now - start);
    return null;
  } catch (error) {
    return faultOf(error, { spec, detail, signal, isOpen: openedAt !== null });
  }
}

interface Ended {
  readonly spec: Spec;
  readonly detail: Detail;
  readonly signal: AbortSignal;
  readonly isOpen: boolean;
}

function faultOf(error: unknown, { spec, detail, signal, isOpen }: Ended): Failure {
  if (error instanceof DeadlineError) {
    const within = `within ${formatDuration(error.ms)}`;
    if (!isOpen) return failure('target', 'timeout', `no handshake ${within}`);
    if (detail.answer === null || spec.expect === undefined)
      return failure('target', 'timeout', `no message ${within}`);
    return failure('target', 'answer', `no message ${within} contains ${describeExpectation(spec.expect)}`);
  }
  signal.throwIfAborted();
  if (error instanceof Refused) {
    detail.status = error.status;
    return failure('target', 'status', error.message);
  }
  if (error instanceof Closed) return failure('target', 'closed', singleLine(error.message));
  return streamFailure(error, isOpen ? 'while waiting for a message' : 'while waiting for the handshake');
}
