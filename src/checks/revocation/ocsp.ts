import { createHash, type X509Certificate, X509Certificate as Certificate } from 'node:crypto';
import { type Failure, failure, type FailureSource } from '../outcome.ts';
import {
  children,
  type DerValue,
  encode,
  first,
  inside,
  integerTag,
  isoTime,
  MalformedDer,
  sequenceTag,
  timeOf,
  value,
} from './der.ts';
import { isSignedBy, type SignedData } from './signature.ts';

// RFC 6960, in DER (X.690).

const octetStringTag = 0x04;
const ocspSigning = '1.3.6.1.5.5.7.3.9';
const basicResponse = '2b0601050507300101';
const sha1 = Buffer.from('300906052b0e03021a0500', 'hex');
// An hour of clock skew would hide nothing.
const skewMs = 300_000;

/** Whose response it is, for failures. */
export interface ResponseOrigin {
  /** Such as "the stapled OCSP response". */
  readonly what: string;
  readonly source: FailureSource;
}

/** What a response says. */
export interface OcspVerdict {
  /** Null if the certificate is good. */
  readonly failure: Failure | null;
  /** Until when it is good, in milliseconds since the epoch; null if it does not say so, or is not good. */
  readonly until: number | null;
}

const stapled: ResponseOrigin = { what: 'the stapled OCSP response', source: 'target' };

/**
 * What is wrong with the OCSP response that a server stapled for its certificate; null if it is signed, current, and says that the
 * certificate is good. `issuer` is the certificate above it; undefined if that is not known.
 */
export function stapleFailure(
  staple: Buffer | null,
  leaf: X509Certificate,
  issuer: X509Certificate | undefined,
  now: number,
): Failure | null {
  if (staple === null) return failure('target', 'answer', 'the server staples no OCSP response');
  if (issuer === undefined)
    return failure('target', 'answer', 'the stapled OCSP response cannot be verified: the issuer is not known');
  return judgeResponse(staple, { leaf, issuer }, stapled, now).failure;
}

/** A certificate and the one above it. */
export interface IssuedCertificate {
  readonly leaf: X509Certificate;
  readonly issuer: X509Certificate;
}

/** Reads and verifies an OCSP response about a certificate. */
export function judgeResponse(
  response: Buffer,
  about: IssuedCertificate,
  origin: ResponseOrigin,
  now: number,
): OcspVerdict {
  try {
    return judge(response, about, origin, now);
  } catch (error) {
    if (!(error instanceof MalformedDer)) throw error;
    const message = `${origin.what} cannot be read: ${error.message}`;
    return { failure: failure(origin.source, 'answer', message), until: null };
  }
}

function judge(
  response: Buffer,
  { leaf, issuer }: IssuedCertificate,
  origin: ResponseOrigin,
  now: number,
): OcspVerdict {
  const wrong = (text: string) => ({
    failure: failure(origin.source, 'answer', `${origin.what} ${text}`),
    until: null,
  });
  const [status, bytes] = inside(value(response), sequenceTag);
  if (status?.content[0] !== 0) return wrong(`is an error: status ${status?.content[0] ?? 'missing'}`);
  const [type, octets] = inside(first(bytes), sequenceTag);
  if (type?.content.toString('hex') !== basicResponse || octets === undefined) return wrong('is of an unknown type');
  const [data, algorithm, signature, certificates] = inside(value(octets.content), sequenceTag);
  if (data === undefined || algorithm === undefined || signature === undefined)
    throw new MalformedDer('it has no signature');
  if (!isAuthorised({ data, algorithm, signature }, issuer, certificates))
    return wrong("is not signed by the certificate's issuer");
  const single = singleFor(data, leaf.serialNumber);
  if (single === null) return wrong('is about another certificate');
  const [, state, from, next] = single;
  const until = next?.tag === 0xa0 ? timeOf(first(next)) : null;
  if (timeOf(from) > now + skewMs) return wrong(`is not valid before ${isoTime(from)}`);
  if (until !== null && until < now) return wrong(`expired on ${new Date(until).toISOString()}`);
  if (state?.tag === 0x80) return { failure: null, until };
  if (state?.tag !== 0xa1) return wrong('does not know the certificate');
  const [revokedAt] = children(state.content);
  return { failure: revokedFailure(timeOf(revokedAt)), until: null };
}

/** The certificate was revoked, in milliseconds since the epoch. */
export function revokedFailure(at: number): Failure {
  return failure('target', 'certificate_untrusted', `the certificate was revoked on ${new Date(at).toISOString()}`);
}

// By the issuer itself, or by a responder that it has authorised (section 4.2.2.2).
function isAuthorised(signed: SignedData, issuer: X509Certificate, certificates: DerValue | undefined): boolean {
  const delegated = certificates === undefined ? [] : children(first(certificates).content);
  const responders = delegated.slice(0, 5).flatMap(({ whole }) => {
    const responder = certificateIn(whole);
    // Typed as a list, but undefined without the extension.
    const isForSigning = [responder.keyUsage].flat().includes(ocspSigning);
    const isFromIssuer = isForSigning && responder.checkIssued(issuer) && responder.verify(issuer.publicKey);
    return isFromIssuer ? [responder.publicKey] : [];
  });
  return isSignedBy(signed, [issuer.publicKey, ...responders]);
}

function certificateIn(bytes: Buffer): X509Certificate {
  try {
    return new Certificate(bytes);
  } catch (cause) {
    throw new MalformedDer('the certificate of its responder is malformed', { cause });
  }
}

function singleFor(data: DerValue, serial: string): readonly DerValue[] | null {
  const responses = children(data.content).find(({ tag }) => tag === sequenceTag);
  for (const one of children(responses?.content ?? Buffer.alloc(0)).slice(0, 100)) {
    const parts = children(one.content);
    const number = children(parts[0]?.content ?? Buffer.alloc(0))[3]?.content.toString('hex') ?? '';
    if (plainSerial(number) === plainSerial(serial)) return parts;
  }
  return null;
}

/** A serial number in hexadecimal digits that can be compared. */
export const plainSerial = (hex: string) => hex.toLowerCase().replace(/^0+/, '');

/** What asks for one certificate (section 4.1.1), by the SHA-1 of its issuer's name and key, which is what responders know it by. */
export function encodeRequest({ leaf, issuer }: IssuedCertificate): Buffer {
  const { serial, issuerName } = namesIn(leaf);
  const [, key] = children(value(issuer.publicKey.export({ type: 'spki', format: 'der' })).content);
  const hashes = [issuerName.whole, key?.content.subarray(1) ?? Buffer.alloc(0)].map((bytes) =>
    encode(octetStringTag, createHash('sha1').update(bytes).digest()),
  );
  const identifier = encode(sequenceTag, Buffer.concat([sha1, ...hashes, serial.whole]));
  return [1, 2, 3, 4].reduce((inner) => encode(sequenceTag, inner), identifier);
}

/** The serial number and the issuer's name of a certificate, as they are written there (RFC 5280, section 4.1). */
export function namesIn(certificate: X509Certificate): { readonly serial: DerValue; readonly issuerName: DerValue } {
  const [tbs] = children(value(certificate.raw).content);
  const parts = children(tbs?.content ?? Buffer.alloc(0)).filter(({ tag }) => tag !== 0xa0);
  const [serial, , issuerName] = parts;
  if (serial?.tag !== integerTag || issuerName === undefined)
    throw new MalformedDer('a certificate has no serial number');
  return { serial, issuerName };
}
