import { dayMs } from '#kernel/units.ts';
import type { FailureCode } from '../../outcome.ts';
import type { OfferedCertificate, TlsEvidence } from '../detail.ts';
import {
  conclusion,
  type EvidenceView,
  joinSome,
  largestGroup,
  type NodeEvidence,
  quoted,
  type ConclusionRule,
  seenFrom,
} from './view.ts';

const tlsOf = ({ document }: NodeEvidence) => document.tls;

type TextOf = (tls: TlsEvidence, now: number) => string | null;

// With other failures the connection was made: the target may be checked without verifying its certificate.
const failures: ReadonlySet<FailureCode | null> = new Set<FailureCode | null>([
  null,
  'tls',
  'certificate_expired',
  'certificate_name',
  'certificate_untrusted',
  'certificate_expires_soon',
  'closed',
  'protocol',
  'reset',
]);

// States a text that depends on what the server offers alone, for the nodes that were offered it.
function stated(rule: string, textOf: TextOf): ConclusionRule {
  return (view: EvidenceView) => {
    const of = (one: NodeEvidence) => {
      const tls = tlsOf(one);
      return tls === null || !failures.has(one.failure) ? null : textOf(tls, view.now);
    };
    const group = largestGroup(view.failing, of);
    const text = group[0] === undefined ? null : of(group[0]);
    return text === null ? [] : conclusion('tls', rule, `${text}${seenFrom(group, view)}`);
  };
}

// The common name of a distinguished name, or all of it.
function commonName(distinguished: string): string {
  return /(?:^|, ?)CN=([^,]+)/.exec(distinguished)?.[1] ?? distinguished;
}

function positionOf(chain: readonly OfferedCertificate[], index: number, serverName: string | undefined): string {
  const certificate = chain[index];
  if (index === 0) return `The certificate of ${serverName ?? 'the server'}`;
  const name = quoted(commonName(certificate?.subject ?? ''));
  return certificate?.subject === certificate?.issuer
    ? `The root certificate ${name}`
    : `The intermediate certificate ${name}`;
}

/** `today`, `yesterday` or `on 2026-05-01`, by days in UTC. */
function dayOf(date: string, now: number): string {
  const days = Math.floor(now / dayMs) - Math.floor(Date.parse(date) / dayMs);
  if (days === 0) return 'today';
  return days === 1 ? 'yesterday' : `on ${date.slice(0, 10)}`;
}

// A chain may hold more than is needed: what does not keep it from being trusted is no cause.
function expired({ chain, serverName, problem }: TlsEvidence, now: number): string | null {
  const index = chain.findIndex(({ notAfter }, at) => {
    return Date.parse(notAfter) < now && (at === 0 || problem === 'CERT_HAS_EXPIRED');
  });
  const certificate = chain[index];
  return certificate === undefined
    ? null
    : `${positionOf(chain, index, serverName)} expired ${dayOf(certificate.notAfter, now)}`;
}

function tooEarly({ chain, serverName, problem }: TlsEvidence, now: number): string | null {
  const index = chain.findIndex(({ notBefore }, at) => {
    return Date.parse(notBefore) > now && (at === 0 || problem === 'CERT_NOT_YET_VALID');
  });
  const certificate = chain[index];
  return certificate === undefined
    ? null
    : `${positionOf(chain, index, serverName)} is not valid before ${certificate.notBefore}`;
}

function otherName({ chain: [leaf], isForName, serverName }: TlsEvidence): string | null {
  if (isForName !== false || leaf === undefined || serverName === undefined) return null;
  const names = leaf.names.length === 0 ? 'no name' : joinSome(leaf.names);
  return `The certificate is not for ${serverName} but for ${names}`;
}

const unknownIssuers: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

function withoutIssuer({ chain, problem }: TlsEvidence): string | null {
  const last = chain.at(-1);
  if (last === undefined || !unknownIssuers.has(problem ?? '') || last.subject === last.issuer) return null;
  const issuer = quoted(commonName(last.issuer));
  return chain.length === 1
    ? `The server sends its certificate without that of its issuer ${issuer}, which the node does not know`
    : `The server sends no certificate of ${issuer}, the issuer of ${quoted(commonName(last.subject))}, and the node does not know it`;
}

function selfSigned({ chain, problem }: TlsEvidence): string | null {
  const last = chain.at(-1);
  if (last === undefined) return null;
  if (problem === 'DEPTH_ZERO_SELF_SIGNED_CERT') return 'The certificate is self-signed';
  if (problem !== 'SELF_SIGNED_CERT_IN_CHAIN') return null;
  return `The certificate is issued by ${quoted(commonName(last.subject))}, an authority that the node does not trust`;
}

function version({ failure, chain, versions }: TlsEvidence): string | null {
  const refusedOnes = versions.filter(({ accepted }) => accepted === false).map((one) => one.version);
  const acceptedOnes = versions.filter(({ accepted }) => accepted === true).map((one) => one.version);
  if (failure === null || chain.length > 0 || refusedOnes.length === 0 || acceptedOnes.length === 0) return null;
  return `The server accepts ${joinSome(acceptedOnes)} and refuses ${joinSome(refusedOnes)}`;
}

function alert({ alert: sent, failure }: TlsEvidence): string | null {
  return sent === null || failure === null ? null : `The server ends the TLS handshake with the alert ${quoted(sent)}`;
}

export const tlsRules: readonly ConclusionRule[] = [
  stated('certificate-expired', expired),
  stated('certificate-too-early', tooEarly),
  stated('certificate-name', otherName),
  stated('issuer-missing', withoutIssuer),
  stated('issuer-untrusted', selfSigned),
  stated('tls-version', version),
  stated('tls-alert', alert),
];
