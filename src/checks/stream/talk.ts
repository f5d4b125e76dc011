import type { Socket } from 'node:net';
import type { Clock } from '#kernel/clock.ts';
import type { ProbeEnvironment, ProbeContext } from '../check.ts';
import { closeSocket } from '../connection.ts';
import { type Endpoint, portOf } from '../endpoint.ts';
import type { ArrivedAt } from '../arrivals.ts';
import { streamFailure } from '../network-errors.ts';
import { failed, type Failure, failure, type Outcome } from '../outcome.ts';
import { reach } from '../reach.ts';
import { handshakeFailure } from '../tls-connection.ts';
import type { Findings } from './conversation.ts';
import { secure } from './secure.ts';
import type { StreamDetail, Tls } from './tls.ts';

/** Whom a probe talks to over one connection, and how. */
export interface TalkOptions<Detail> {
  readonly endpoint: Endpoint;
  readonly spec: { readonly family?: 4 | 6 | undefined; readonly timeout: number };
  /** What TLS is to be like, and the protocol that is offered in its handshake; null for none. */
  readonly tls: { readonly wishes: Tls; readonly alpn: readonly string[] } | null;
  /** What is known before anything was found. */
  readonly detail: Detail;
}

/** A talk and what it has found so far: the outcome is made of it wherever the talk ends. */
export interface Talk<Detail> {
  readonly findings: Omit<Findings, 'detail'>;
  readonly detail: Detail;
  /** How long it took, once there is an answer. */
  seconds: number | null;
  /** When the check began to connect, on the monotonic clock. */
  readonly start: number;
  readonly clock: Clock;
  /** Of the connection, or of that below TLS. */
  readonly arrivedAt: ArrivedAt;
  readonly signal: AbortSignal;
}

/**
 * The way of a probe that connects, starts TLS if it is wished, and then talks in a protocol of its own. `talk` gives what was
 * wrong, or null; connections are closed after it, however it ends.
 */
export async function converseOver<Detail extends Pick<StreamDetail, 'tls'>>(
  { endpoint, spec, tls, detail }: TalkOptions<Detail>,
  context: ProbeContext,
  environment: ProbeEnvironment,
  talk: (socket: Socket, found: Talk<Detail>) => Promise<Failure | null>,
): Promise<Outcome<Detail>> {
  const { name } = endpoint;
  const { clock } = environment;
  const destination = { name, family: spec.family, limitMs: spec.timeout, covers: 'check' } as const;
  return reach<Detail>(destination, context, environment, {
    async probe({ pinned, phases, signal, connect }) {
      const start = clock.elapsed();
      return connect(pinned, portOf(endpoint), async (connection) => {
        const { address } = pinned;
        if (!connection.ok) {
          const { reset, failure: reason } = connection;
          if (reset === null) return failed(reason, { address, phases });
          const fault = tls === null ? streamFailure : handshakeFailure;
          return failed(fault(reset.error), { address, phases: { ...phases, connect: reset.seconds } });
        }
        const findings = { phases: { ...phases, connect: connection.seconds }, facts: {} };
        const { arrivedAt } = connection;
        const found: Talk<Detail> = { findings, detail, seconds: null, start, clock, arrivedAt, signal };
        const wrong =
          tls === null
            ? await talk(connection.socket, found)
            : await converseOverTls(connection.socket, { name, ...tls }, found, talk);
        const known = { address, ...findings, detail };
        if (wrong !== null || found.seconds === null) {
          const reason = wrong ?? failure('target', 'protocol', 'there was no answer');
          return failed(reason, { seconds: found.seconds, ...known });
        }
        return { status: 'up', seconds: found.seconds, ...known };
      });
    },
  });
}

async function converseOverTls<Detail extends Pick<StreamDetail, 'tls'>>(
  socket: Socket,
  { name, wishes, alpn }: { readonly name: string; readonly wishes: Tls; readonly alpn: readonly string[] },
  found: Talk<Detail>,
  talk: (socket: Socket, found: Talk<Detail>) => Promise<Failure | null>,
): Promise<Failure | null> {
  const secured = await secure(socket, name, wishes, { ...found, alpn });
  found.detail.tls = secured.tls;
  if (!secured.ok) return secured.failure;
  try {
    return await talk(secured.socket, found);
  } finally {
    await closeSocket(secured.socket);
  }
}
