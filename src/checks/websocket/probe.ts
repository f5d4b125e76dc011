import type { Socket } from 'node:net';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { formatDuration } from '#kernel/units.ts';
import { type ProbeEnvironment, type ProbeContext, startPlain } from '../check.ts';
import { endpointOf } from '../endpoint.ts';
import { streamFailure } from '../network-errors.ts';
import { type Failure, failure, type Outcome, toSeconds } from '../outcome.ts';
import { describeExpectation } from '../payload.ts';
import { type Talk, converseOver } from '../stream/talk.ts';
import type { Detail } from './detail.ts';
import { ConnectionClosedError, hold, UpgradeRefusedError } from './session.ts';
import type { Spec } from './spec.ts';
import { isSecure } from './secure.ts';

export const start = startPlain(probe);

/** Opens a WebSocket (RFC 6455), sends a message and waits for one, as the spec asks for. */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const tls = isSecure(endpoint) ? { wishes: spec.tls, alpn: ['http/1.1'] } : null;
  const detail: Detail = { status: null, protocol: null, answer: null, tls: null };
  return converseOver({ endpoint, spec, tls, detail }, context, environment, async (socket, found) =>
    exchangeFrames(socket, spec, found),
  );
}

async function exchangeFrames(socket: Socket, spec: Spec, found: Talk<Detail>): Promise<Failure | null> {
  const { clock, arrivedAt, signal, start } = found;
  const { findings, detail } = found;
  const asked = clock.elapsed();
  let openedAt: number | null = null;
  const holding = hold(socket, {
    spec,
    url: spec.host,
    onOpen(protocol) {
      openedAt = Math.max(asked, arrivedAt());
      findings.phases.first_byte = toSeconds(openedAt - asked);
      detail.protocol = protocol === '' ? null : protocol.slice(0, 100);
    },
    onMessage(message) {
      detail.answer ??= singleLine(message.subarray(0, 1_000).toString('utf8'));
    },
  });
  try {
    await orAbort(holding, signal);
    const end = Math.max(openedAt ?? asked, arrivedAt());
    if (openedAt !== null && spec.expect !== undefined) findings.phases.transfer = toSeconds(end - openedAt);
    found.seconds = toSeconds(end - start);
    return null;
  } catch (error) {
    return faultOf(error, { spec, detail, signal, isOpen: openedAt !== null });
  }
}

interface ClosedSession {
  readonly spec: Spec;
  readonly detail: Detail;
  readonly signal: AbortSignal;
  readonly isOpen: boolean;
}

function faultOf(error: unknown, { spec, detail, signal, isOpen }: ClosedSession): Failure {
  if (error instanceof DeadlineError) {
    const within = `within ${formatDuration(error.ms)}`;
    if (!isOpen) return failure('target', 'timeout', `no handshake ${within}`);
    if (detail.answer === null || spec.expect === undefined)
      return failure('target', 'timeout', `no message ${within}`);
    return failure('target', 'answer', `no message ${within} contains ${describeExpectation(spec.expect)}`);
  }
  signal.throwIfAborted();
  if (error instanceof UpgradeRefusedError) {
    detail.status = error.status;
    return failure('target', 'status', error.message);
  }
  if (error instanceof ConnectionClosedError) return failure('target', 'closed', singleLine(error.message));
  return streamFailure(error, isOpen ? 'while waiting for a message' : 'while waiting for the handshake');
}
