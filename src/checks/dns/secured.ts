import type { Socket } from 'node:net';
import { DeadlineError, orAbort } from '#kernel/clock.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ProbeEnvironment } from '../check.ts';
import { closeSocket } from '../connection.ts';
import { formatHostPort } from '../endpoint.ts';
import type { PinnedAddress } from '../gate.ts';
import { fetchDocument } from '../http/fetch.ts';
import { streamFailure } from '../network-errors.ts';
import { type Fact, type Failure, failure, type Phase } from '../outcome.ts';
import type { Network } from '../reach.ts';
import type { TlsConnection } from '../stream/tls.ts';
import { secure } from '../stream/secure.ts';
import { expiresAt } from '../certificate.ts';
import { handshakeFailure } from '../tls-connection.ts';
import type { Spec } from './spec.ts';
import { framed, readFrame } from './stream.ts';

/** A name server that is asked over an encrypted connection. */
export interface EncryptedQuery {
  readonly network: Network;
  readonly environment: ProbeEnvironment;
  readonly pinned: PinnedAddress;
  /** Its name or address, as it was written. */
  readonly name: string;
  readonly port: number;
  readonly wishes: Pick<Spec, 'protocol' | 'path' | 'tls'>;
}

/** What was found on the way to an answer. */
export interface Encryption {
  readonly phases: Partial<Record<Phase, number>>;
  readonly facts: Partial<Record<Fact, number>>;
  certificate: TlsConnection['certificate'];
  tlsProtocol: string | null;
}

export interface SecuredAnswer {
  readonly answer: Buffer | Failure;
  readonly encryption: Encryption;
}

// As long as a message over TCP can be.
const longestMessage = 65_535;

/** Asks over a connection of its own and gives the first message that comes. An expired deadline is a failure. */
export async function queryEncrypted(query: Buffer, server: EncryptedQuery): Promise<SecuredAnswer> {
  return server.wishes.protocol === 'tls' ? askOverTls(query, server) : askOverHttps(query, server);
}

async function askOverTls(query: Buffer, server: EncryptedQuery): Promise<SecuredAnswer> {
  const { network, environment, pinned, name, port, wishes } = server;
  const { signal } = network;
  const encryption: Encryption = { phases: {}, facts: {}, certificate: null, tlsProtocol: null };
  return network.connect(pinned, port, async (connection): Promise<SecuredAnswer> => {
    if (!connection.ok) {
      const { reset } = connection;
      return { answer: reset === null ? connection.failure : handshakeFailure(reset.error), encryption };
    }
    encryption.phases.connect = connection.seconds;
    const secured = await secure(
      connection.socket,
      name,
      { verify: true, ...wishes.tls },
      {
        findings: encryption,
        clock: environment.clock,
        arrivedAt: connection.arrivedAt,
        signal,
      },
    );
    encryption.certificate = secured.tls?.certificate ?? null;
    encryption.tlsProtocol = secured.tls?.protocol ?? null;
    if (!secured.ok) return { answer: secured.failure, encryption };
    try {
      return { answer: await answerOn(secured.socket, query, signal), encryption };
    } finally {
      await closeSocket(secured.socket);
    }
  });
}

async function answerOn(socket: Socket, query: Buffer, signal: AbortSignal): Promise<Buffer | Failure> {
  const early = failure('target', 'closed', 'the connection was closed before the answer was whole');
  const answer = new Promise<Buffer | Failure>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('end', () => resolve(early));
    socket.once('close', () => resolve(early));
    readFrame(socket, resolve);
    socket.write(framed(query));
  });
  try {
    return await orAbort(answer, signal);
  } catch (error) {
    if (error instanceof DeadlineError) {
      return failure('target', 'timeout', `no answer within ${formatDuration(error.ms)}`);
    }
    signal.throwIfAborted();
    return streamFailure(error, 'while waiting for the answer');
  }
}

async function askOverHttps(query: Buffer, server: EncryptedQuery): Promise<SecuredAnswer> {
  const { network, environment, pinned, name, port, wishes } = server;
  const fetched = await fetchDocument(
    {
      url: `https://${formatHostPort(name, port)}${wishes.path ?? '/dns-query'}`,
      body: query,
      headers: { accept: 'application/dns-message', 'content-type': 'application/dns-message' },
      largestBytes: longestMessage,
      redirects: 0,
      pinned,
      ...(wishes.tls !== undefined && { tls: wishes.tls }),
    },
    network,
    environment,
  );
  const { phases, certificate, tlsProtocol } = fetched;
  const facts = certificate === null ? {} : { certificate_expires_at: expiresAt(certificate) };
  const encryption = { phases, facts, certificate, tlsProtocol };
  if (!fetched.ok) return { answer: fetched.failure, encryption };
  const { status, headers } = fetched.head;
  if (status !== 200) {
    const message = `HTTP status ${status} instead of an answer of a name server`;
    return { answer: failure('target', 'status', message), encryption };
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/dns-message') return { answer: fetched.content, encryption };
  return { answer: failure('target', 'protocol', 'the answer is no DNS message by its content type'), encryption };
}
