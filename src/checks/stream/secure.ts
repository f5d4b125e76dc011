import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { type Clock, DeadlineError } from '#kernel/clock.ts';
import { formatDuration } from '#kernel/units.ts';
import { expiresAt } from '../certificate.ts';
import { closeSocket } from '../connection.ts';
import type { ArrivedAt } from '../arrivals.ts';
import { stapleFailure } from '../revocation/ocsp.ts';
import { type Fact, type Failure, failure, type Phase, toSeconds } from '../outcome.ts';
import { handshakeFailure, startTls, verifyCertificate } from '../tls-connection.ts';
import type { Tls, TlsConnection } from './tls.ts';

export interface SecureOptions {
  /** Filled with the handshake's time and when the certificate ends. */
  readonly findings: {
    readonly phases: Partial<Record<Phase, number>>;
    readonly facts: Partial<Record<Fact, number>>;
  };
  readonly clock: Clock;
  /** Of the connection below. */
  readonly arrivedAt: ArrivedAt;
  readonly signal: AbortSignal;
  readonly alpn?: readonly string[];
  /** Whether the server must staple an OCSP response that says that its certificate is good. */
  readonly wantsStaple?: boolean;
  /** Called with the certificates, the server's own first, once there is nothing wrong with them. */
  readonly onChain?: ((chain: readonly X509Certificate[]) => void) | undefined;
}

export type TlsResult =
  | { readonly ok: true; readonly socket: TLSSocket; readonly tls: TlsConnection }
  | { readonly ok: false; readonly failure: Failure; readonly tls: TlsConnection | null };

/** Starts TLS on an open connection and verifies the certificate as is wished. The caller closes the secured socket. */
export async function secure(
  socket: Socket,
  name: string,
  wishes: Tls,
  { findings, clock, arrivedAt, signal, alpn, wantsStaple = false, onChain }: SecureOptions,
): Promise<TlsResult> {
  const serverName = wishes.server_name ?? name;
  const start = clock.elapsed();
  let secured: TLSSocket;
  let staple: Buffer | null = null;
  try {
    const onStaple = wantsStaple ? (response: Buffer | null) => void (staple = response) : undefined;
    const options = { serverName, ca: wishes.ca, minVersion: wishes.min_version, alpn, onStaple };
    secured = await startTls(socket, options, signal);
  } catch (error) {
    if (error instanceof DeadlineError) {
      const late = failure('target', 'timeout', `no TLS handshake within ${formatDuration(error.ms)}`);
      return { ok: false, failure: late, tls: null };
    }
    signal.throwIfAborted();
    return { ok: false, failure: handshakeFailure(error), tls: null };
  }
  try {
    findings.phases.tls = toSeconds(Math.max(0, arrivedAt() - start));
    const { certificate, failure: untrusted, chain } = verifyCertificate(secured, serverName, clock.now());
    if (certificate !== null) findings.facts.certificate_expires_at = expiresAt(certificate);
    const cipher = secured.getCipher().standardName;
    const tls = { protocol: secured.getProtocol() ?? '', cipher, certificate };
    const [leaf, issuer] = chain;
    const unstapled = wantsStaple && leaf !== undefined ? stapleFailure(staple, leaf, issuer, clock.now()) : null;
    const wrong = (wishes.verify ? untrusted : null) ?? unstapled;
    if (wrong === null) onChain?.(chain);
    if (wrong === null) return { ok: true, socket: secured, tls };
    await closeSocket(secured);
    return { ok: false, failure: wrong, tls };
  } catch (error) {
    await closeSocket(secured);
    throw error;
  }
}
