import { X509Certificate } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect,
  type ConnectionOptions,
  type DetailedPeerCertificate,
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
} from 'node:tls';
import { orAbort } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import type { Certificate } from './certificate.ts';
import { closeSocket } from './connection.ts';
import { streamFailure, tlsReasonOf } from './network-errors.ts';
import { type Failure, failure } from './outcome.ts';

export interface TlsOptions {
  /** The name that is asked for (SNI) and that the certificate must have; an address if there is no name. */
  readonly serverName: string;
  /** PEM certificates to trust instead of the well-known authorities. */
  readonly ca?: string | undefined;
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined;
  /** A context made before, instead of one for this handshake alone. It has its own authorities and client certificate. */
  readonly context?: SecureContext | undefined;
  /** Protocols to offer, best first. */
  readonly alpn?: readonly string[] | undefined;
  /** Takes the OCSP response that the server staples, or null if it staples none; absent if none is wanted. */
  readonly onStaple?: ((staple: Buffer | null) => void) | undefined;
}

/**
 * Options for `tls.connect` on a connected socket. The handshake itself accepts every certificate, so that a bad one can be
 * described: `verifyCertificate` afterwards is what verifies. No session is ever resumed.
 */
function tlsOptions(socket: Socket, options: TlsOptions): ConnectionOptions {
  return {
    socket,
    rejectUnauthorized: false,
    ...(isIP(options.serverName) === 0 ? { servername: options.serverName } : {}),
    ...(options.ca === undefined ? {} : trusting(options.ca)),
    ...(options.context === undefined ? {} : { secureContext: options.context }),
    ...(options.minVersion === undefined ? {} : { minVersion: options.minVersion }),
    ...(options.onStaple === undefined ? {} : { requestOCSP: true }),
    ...(options.alpn === undefined ? {} : { ALPNProtocols: [...options.alpn] }),
  };
}

/**
 * Options for `createSecureContext` to trust these PEM certificates alone: also those that are no roots, such as an intermediate or the
 * server's own, which OpenSSL by itself trusts only if it finds the root above them.
 */
export function trusting(ca: string): Pick<SecureContextOptions, 'ca' | 'allowPartialTrustChain'> {
  return { ca, allowPartialTrustChain: true };
}

/**
 * Starts TLS on a connected socket. Rejects with the error that `handshakeFailure` reads, or with the signal's reason. The
 * caller closes the result and then the socket below it.
 */
export async function startTls(socket: Socket, options: TlsOptions, signal: AbortSignal): Promise<TLSSocket> {
  const secured = connect(tlsOptions(socket, options));
  if (options.onStaple !== undefined) secured.on('OCSPResponse', options.onStaple);
  const handshake = new Promise<void>((resolve, reject) => {
    secured.once('error', reject);
    secured.once('secureConnect', () => {
      secured.off('error', reject);
      // Until a reader listens for them, errors of the open connection must not end the process.
      secured.on('error', () => {});
      resolve();
    });
  });
  try {
    await orAbort(handshake, signal);
    return secured;
  } catch (error) {
    await closeSocket(secured);
    throw error;
  }
}

export interface VerifyResult {
  readonly failure: Failure | null;
  readonly certificate: Certificate | null;
  /** The server's own certificate first; empty if it sent none. */
  readonly chain: readonly X509Certificate[];
}

/** Verifies the peer's certificate after the handshake: its chain, its time at `now` (milliseconds), and the name. */
export function verifyCertificate(socket: TLSSocket, serverName: string, now: number): VerifyResult {
  // Asked for once: a second way of asking gets an empty answer from Node.
  const peer: DetailedPeerCertificate | object | null = socket.getPeerCertificate(true);
  if (peer === null || !('raw' in peer)) {
    return { failure: failure('target', 'tls', 'the server sent no certificate'), certificate: null, chain: [] };
  }
  const leaf = new X509Certificate(peer.raw);
  const above = chainOf(peer);
  const failed = verify(problemOf(socket), leaf, above, serverName, now);
  return { failure: failed, certificate: summarise(leaf, above), chain: [leaf, ...above] };
}

/** What a server presented, for people who look for what is wrong with it. */
export interface PresentedChain {
  /** Its own certificate first; above it as far as the server or our store gave them. */
  readonly certificates: readonly X509Certificate[];
  /** The code of OpenSSL's verification; null if it trusts the chain, whatever the name. */
  readonly problem: string | null;
  readonly isForName: boolean;
}

/** The peer's certificates, in place of `verifyCertificate`; null if it sent none. */
export function presentedChain(socket: TLSSocket, serverName: string): PresentedChain | null {
  const peer: DetailedPeerCertificate | object | null = socket.getPeerCertificate(true);
  if (peer === null || !('raw' in peer)) return null;
  const leaf = new X509Certificate(peer.raw);
  const problem = problemOf(socket);
  return {
    certificates: [leaf, ...chainOf(peer)].slice(0, 10),
    problem: problem === 'ERR_TLS_CERT_ALTNAME_INVALID' ? null : problem,
    isForName: checkServerIdentity(serverName, leaf.toLegacyObject()) === undefined,
  };
}

/** What it means that a handshake failed. */
export function handshakeFailure(error: unknown): Failure {
  const code = systemCode(error);
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return failure('target', 'tls', 'the server closed the connection during the TLS handshake');
  }
  const reason = streamFailure(error, 'during the TLS handshake');
  if (reason.code !== 'tls' && reason.code !== 'protocol') return reason;
  return failure('target', 'tls', `TLS handshake failed: ${tlsReasonOf(error)}`);
}

/** What it means that a client library refused the certificate of a server: an error, or the code of OpenSSL that `tls` gives. */
export function certificateFailure(error: unknown): Failure {
  const problem = typeof error === 'string' ? error : (systemCode(error) ?? '');
  if (problem === 'CERT_HAS_EXPIRED' || problem === 'CERT_NOT_YET_VALID')
    return failure('target', 'certificate_expired', 'a certificate of the server has expired, or is not valid yet');
  if (problem === 'ERR_TLS_CERT_ALTNAME_INVALID') return failure('target', 'certificate_name', messageOf(error));
  const known = explanations.get(problem);
  return known === undefined
    ? handshakeFailure(error)
    : failure('target', 'certificate_untrusted', `the certificate is not trusted: ${known}`);
}

function verify(
  problem: string | null,
  leaf: X509Certificate,
  chain: readonly X509Certificate[],
  serverName: string,
  now: number,
): Failure | null {
  if (leaf.validToDate.getTime() < now) {
    return failure('target', 'certificate_expired', `the certificate expired on ${leaf.validToDate.toISOString()}`);
  }
  if (problem === 'CERT_HAS_EXPIRED') {
    return failure('target', 'certificate_expired', "a certificate in the chain above the server's has expired");
  }
  if (leaf.validFromDate.getTime() > now) {
    const from = leaf.validFromDate.toISOString();
    return failure('target', 'certificate_expired', `the certificate is not valid before ${from}`);
  }
  if (problem !== null && problem !== 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return failure(
      'target',
      'certificate_untrusted',
      `the certificate is not trusted: ${explain(problem, leaf, chain)}`,
    );
  }
  const mismatch = checkServerIdentity(serverName, leaf.toLegacyObject());
  if (mismatch === undefined) return null;
  const names = namesOf(leaf).join(', ');
  return failure(
    'target',
    'certificate_name',
    `the certificate is not for ${serverName} but for ${names || 'no name'}`,
  );
}

// Typed as an Error, but a string in fact: the code of OpenSSL's verification or of the name check.
function problemOf(socket: TLSSocket): string | null {
  if (socket.authorized) return null;
  const problem: unknown = socket.authorizationError;
  return typeof problem === 'string' ? problem : (systemCode(problem) ?? messageOf(problem));
}

const explanations: ReadonlyMap<string, string> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'it is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its authority is not known here'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'its issuer is not known here'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'its issuer is not known here'],
  ['CERT_SIGNATURE_FAILURE', 'its signature is wrong'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'the server does not send the certificates of its issuer'],
]);

function explain(problem: string, leaf: X509Certificate, chain: readonly X509Certificate[]): string {
  const known = explanations.get(problem);
  if (known !== undefined) return known;
  // Node has no name for what OpenSSL thinks of weak keys.
  const bits = [leaf, ...chain].map(bitsOf);
  const weak = bits.findIndex((count) => count !== null && count < fewestBits);
  if (weak !== -1) return `${weak === 0 ? 'its key' : "an authority's key"} is too weak (${bits[weak]} bits)`;
  return problem === 'UNSPECIFIED' ? 'it breaks a rule of OpenSSL' : problem.toLowerCase().replaceAll('_', ' ');
}

// What OpenSSL asks of RSA and DSA at its default security level.
const fewestBits = 2_048;

function bitsOf({ publicKey }: X509Certificate): number | null {
  return publicKey.asymmetricKeyDetails?.modulusLength ?? null;
}

// The certificates above the server's, up to a self-signed one, which Node gives as its own issuer.
function chainOf(leaf: DetailedPeerCertificate): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  let below = leaf;
  let above: DetailedPeerCertificate | undefined = leaf.issuerCertificate;
  while (above !== undefined && above !== below && chain.length < 10) {
    chain.push(new X509Certificate(above.raw));
    below = above;
    above = above.issuerCertificate;
  }
  return chain;
}

function summarise(leaf: X509Certificate, chain: readonly X509Certificate[]): Certificate {
  return {
    subject: distinguishedLine(leaf.subject),
    issuer: distinguishedLine(leaf.issuer),
    names: namesOf(leaf),
    valid_from: leaf.validFromDate.toISOString(),
    valid_to: leaf.validToDate.toISOString(),
    fingerprint: leaf.fingerprint256,
    chain: chain.map((above) => ({
      subject: distinguishedLine(above.subject),
      issuer: distinguishedLine(above.issuer),
      valid_to: above.validToDate.toISOString(),
    })),
  };
}

/** The names and addresses that a certificate is for, at most 100. */
export function namesOf(certificate: X509Certificate): string[] {
  const alternatives = certificate.subjectAltName?.split(', ') ?? [];
  return alternatives
    .flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? [])
    .slice(0, 100)
    .map((name) => singleLine(name, 300));
}

/** A distinguished name in one line. */
export function distinguishedLine(distinguishedName: string | undefined): string {
  return singleLine((distinguishedName ?? '').split('\n').join(', '), 300);
}
