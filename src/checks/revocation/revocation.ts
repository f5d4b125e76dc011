import type { X509Certificate } from 'node:crypto';
import { DeadlineError } from '#kernel/clock.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ProbeEnvironment } from '../check.ts';
import { fetchDocument } from '../http/fetch.ts';
import { type Failure, failure, thirdPartyFailure } from '../outcome.ts';
import type { Network } from '../reach.ts';
import { type CacheableValue, createRemembered } from '../remembered.ts';
import { judgeList, listAddresses } from './crl.ts';
import { MalformedDer } from './der.ts';
import { encodeRequest, type IssuedCertificate, judgeResponse, type OcspVerdict } from './ocsp.ts';

/** Asks issuers whether they have revoked a certificate, and not often. */
export interface RevocationLookup {
  /** Null if the issuer says that the certificate is good. Rejects with the reason of a cancelled check. */
  failureOf(about: IssuedCertificate, network: Network): Promise<Failure | null>;
}

const minute = 60_000;
const hour = 60 * minute;
// Responses are good for days, and who has revoked a certificate wants that to be seen.
const goodKeptMs = 6 * hour;
const revokedKeptMs = hour;
const retryMs = 10 * minute;
const mostCertificates = 10_000;
const mostSources = 4;
const ocspHeaders = { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' };
const largestResponse = 65_536;
const largestList = 16 * 1_048_576;

interface Source {
  readonly kind: 'ocsp' | 'list';
  readonly address: string;
}

/** One for all checks of a node: it asks about each certificate every six hours at the most. */
export function createRevocationLookup(environment: ProbeEnvironment): RevocationLookup {
  const { clock } = environment;
  const verdicts = createRemembered<OcspVerdict>(clock, mostCertificates);
  // Those that took all the time of a check: they are asked last.
  const silent = new Set<string>();

  async function askOne({ kind, address }: Source, about: IssuedCertificate, network: Network): Promise<OcspVerdict> {
    const what = `the ${kind === 'ocsp' ? 'OCSP response of' : 'revocation list at'} ${new URL(address).host}`;
    const question = kind === 'ocsp' ? { body: encodeRequest(about), headers: ocspHeaders } : { headers: {} };
    const largestBytes = kind === 'ocsp' ? largestResponse : largestList;
    const fetched = await fetchDocument(
      { url: address, ...question, largestBytes, redirects: 2 },
      network,
      environment,
    );
    if (!fetched.ok) {
      if (fetched.failure.code === 'timeout' && silent.size < mostCertificates) silent.add(address);
      return nothing(thirdPartyFailure(what, fetched.failure));
    }
    silent.delete(address);
    const { status } = fetched.head;
    if (status !== 200) return nothing(failure('third_party', 'status', `${what}: status ${status}`));
    const now = clock.now();
    return kind === 'ocsp'
      ? judgeResponse(fetched.content, about, { what, source: 'third_party' }, now)
      : judgeList(fetched.content, about, address, now);
  }

  /** What an issuer has signed, or why the last one that was asked gave no such thing. */
  async function firstAnswer(about: IssuedCertificate, network: Network): Promise<OcspVerdict> {
    let verdict = unnamed;
    try {
      const sources = sourcesOf(about.leaf).toSorted(
        (a, b) => Number(silent.has(a.address)) - Number(silent.has(b.address)),
      );
      for (const source of sources.slice(0, mostSources)) {
        verdict = await askOne(source, about, network);
        const isAnswer = verdict.failure === null || verdict.failure.source === 'target';
        if (isAnswer || network.signal.aborted) return verdict;
      }
      return verdict;
    } catch (error) {
      if (error instanceof MalformedDer)
        return nothing(failure('target', 'answer', `the certificate cannot be read: ${error.message}`));
      if (!(error instanceof DeadlineError)) throw error;
      const late = `no answer about revocation within ${formatDuration(error.ms)}`;
      return verdict === unnamed ? nothing(failure('third_party', 'timeout', late)) : verdict;
    }
  }

  async function ask(
    about: IssuedCertificate,
    network: Network,
    before: OcspVerdict | null,
  ): Promise<CacheableValue<OcspVerdict>> {
    const verdict = await firstAnswer(about, network);
    const now = clock.now();
    if (verdict.failure === null)
      return { value: verdict, keepMs: Math.min(goodKeptMs, Math.max(minute, (verdict.until ?? Infinity) - now)) };
    if (verdict.failure.source === 'target') return { value: verdict, keepMs: revokedKeptMs };
    // What is still good does while there is nothing newer.
    const isGood = before?.failure === null && before.until !== null && before.until > now;
    return { value: isGood ? before : verdict, keepMs: retryMs };
  }

  return {
    async failureOf(about, network) {
      const { leaf, issuer } = about;
      const key = `${leaf.fingerprint256} ${issuer.fingerprint256}`;
      return (await verdicts.of(key, network.signal, async (before) => ask(about, network, before))).failure;
    },
  };
}

const nothing = (reason: Failure): OcspVerdict => ({ failure: reason, until: null });
const unnamed = nothing(failure('target', 'answer', 'the certificate names no OCSP responder and no revocation list'));

const sourcesOf = (certificate: X509Certificate): readonly Source[] => [
  ...responderAddresses(certificate).map((address) => ({ kind: 'ocsp', address }) as const),
  ...listAddresses(certificate).map((address) => ({ kind: 'list', address }) as const),
];

// RFC 5280, section 4.2.2.1, as Node writes it: a line for each, quoted where it has to be.
function responderAddresses({ infoAccess = '' }: X509Certificate): readonly string[] {
  return infoAccess
    .split('\n')
    .flatMap((line) => /^OCSP - URI:(\S+)$/.exec(line.trim())?.[1] ?? [])
    .filter((address) => /^https?:\/\//i.test(address) && URL.canParse(address));
}
