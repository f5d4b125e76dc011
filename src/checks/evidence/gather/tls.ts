import { createSecureContext, type SecureVersion } from 'node:tls';
import { DeadlineError } from '#kernel/clock.ts';
import { messageOf, systemCode } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { closeSocket, type Connection } from '../../connection.ts';
import { type Network, within } from '../../reach.ts';
import { converse } from '../../stream/conversation.ts';
import type { PinnedAddress } from '../../gate.ts';
import {
  distinguishedLine,
  handshakeFailure,
  namesOf,
  presentedChain,
  startTls,
  trusting,
} from '../../tls-connection.ts';
import type { TlsEvidence } from '../detail.ts';
import type { TlsPlan } from '../plan.ts';
import { type GatherContext, PartUnavailableError } from './context.ts';

const longestMs = 7_000;

interface VersionRange {
  readonly label: string;
  readonly version: SecureVersion;
}

const common: readonly VersionRange[] = [
  { label: 'TLS 1.2', version: 'TLSv1.2' },
  { label: 'TLS 1.3', version: 'TLSv1.3' },
];
const old: readonly VersionRange[] = [
  { label: 'TLS 1.0', version: 'TLSv1' },
  { label: 'TLS 1.1', version: 'TLSv1.1' },
];

/** The chain as the server offers it, and the versions that it accepts; null if the target has no TLS. */
export async function gatherTls(given: GatherContext): Promise<TlsEvidence | null> {
  const { plan, context, tools, redaction } = given;
  const { tls } = plan;
  if (tls === undefined) return null;
  if ('unavailable' in tls) throw new PartUnavailableError(tls.unavailable);
  const limits = { family: plan.family, limitMs: Math.min(plan.timeoutMs, longestMs) };
  return within(limits, context, tools.environment, async (network) => {
    const pinned = await network.pin(plan.name);
    if (!pinned.ok) throw new PartUnavailableError(redaction.text(pinned.failure.message));
    const shake = async (range: VersionRange | null) => handshake(tls, pinned, network, given, range);
    const [offered, ...modern] = await Promise.all([shake(null), ...common.map(shake)]);
    // Only if there is no other way to find out what the server speaks: they need ciphers that are not offered otherwise.
    const older = modern.some(({ accepted }) => accepted !== false) ? [] : await Promise.all(old.map(shake));
    const ranges = [...common, ...old];
    return {
      address: pinned.address,
      ...offered.chain,
      alert: offered.alert,
      failure: offered.failure === null ? null : singleLine(redaction.text(offered.failure)),
      versions: [...modern, ...older].map(({ accepted, failure }, index) => ({
        version: ranges[index]?.label ?? '',
        accepted,
        failure: failure === null ? null : singleLine(redaction.text(failure)),
      })),
      serverName: tls.serverName,
    };
  });
}

type OfferedChain = Pick<TlsEvidence, 'protocol' | 'chain' | 'isForName' | 'problem'>;

interface HandshakeResult {
  readonly chain: OfferedChain;
  /** Null if the handshake did not come so far. */
  readonly accepted: boolean | null;
  readonly alert: string | null;
  readonly failure: string | null;
}

const nothing: OfferedChain = { protocol: null, chain: [] };

async function handshake(
  tls: TlsPlan,
  pinned: PinnedAddress,
  network: Network,
  given: GatherContext,
  range: VersionRange | null,
): Promise<HandshakeResult> {
  const failed = (failure: string, accepted: boolean | null = null, alert: string | null = null): HandshakeResult => {
    return { chain: nothing, accepted, alert, failure };
  };
  let context;
  try {
    context = createSecureContext({
      ...(tls.ca !== undefined && trusting(tls.ca)),
      ...tls.client,
      ...(range !== null && { minVersion: range.version, maxVersion: range.version }),
      ...(range !== null && old.includes(range) && { ciphers: 'DEFAULT@SECLEVEL=0' }),
    });
  } catch (error) {
    return failed(`OpenSSL refuses to try: ${messageOf(error)}`);
  }
  return network.connect(pinned, tls.port, async (connection) => {
    if (!connection.ok) return failed(connection.failure.message);
    const wrong = await sayBefore(tls, connection, network, given);
    if (wrong !== null) return failed(wrong);
    try {
      const { serverName, alpn } = tls;
      const secured = await startTls(connection.socket, { serverName, context, alpn }, network.signal);
      try {
        return {
          chain: chainOf(presentedChain(secured, serverName), secured.getProtocol()),
          accepted: true,
          alert: null,
          failure: null,
        };
      } finally {
        await closeSocket(secured);
      }
    } catch (error) {
      if (error instanceof DeadlineError) return failed('no TLS handshake within the time');
      network.signal.throwIfAborted();
      const alert = alertOf(error);
      return failed(handshakeFailure(error).message, versionCodes.has(systemCode(error) ?? '') ? false : null, alert);
    }
  });
}

async function sayBefore(
  { before }: TlsPlan,
  connection: Connection,
  network: Network,
  { plan, tools }: GatherContext,
): Promise<string | null> {
  const findings = { phases: {}, facts: {}, detail: { answer: null, tls: null } };
  const { clock } = tools.environment;
  const { arrivedAt } = connection;
  const options = { tls: { verify: false }, name: plan.name, findings, clock, arrivedAt, signal: network.signal };
  return (await converse(before, connection.socket, options))?.message ?? null;
}

// What OpenSSL calls the refusal of a version, by an alert (RFC 8446, section 6.2) or by another version in its place.
const versionCodes: ReadonlySet<string> = new Set([
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_WRONG_SSL_VERSION',
  'ERR_SSL_VERSION_TOO_LOW',
]);

// `ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE` is the alert "handshake failure".
function alertOf(error: unknown): string | null {
  const [, name] = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13)_ALERT_(\w+)$/.exec(systemCode(error) ?? '') ?? [];
  return name === undefined ? null : name.toLowerCase().replaceAll('_', ' ');
}

function chainOf(presented: ReturnType<typeof presentedChain>, protocol: string | null): OfferedChain {
  if (presented === null) return { protocol, chain: [] };
  const chain = presented.certificates.map((certificate) => ({
    subject: distinguishedLine(certificate.subject),
    issuer: distinguishedLine(certificate.issuer),
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
    names: namesOf(certificate).slice(0, 20),
  }));
  return { protocol, chain, isForName: presented.isForName, problem: presented.problem };
}
