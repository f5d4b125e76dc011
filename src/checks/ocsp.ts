import { verify, type X509Certificate, X509Certificate as Certificate } from 'node:crypto';
import { type Failure, failure } from './outcome.ts';

// RFC 6960, section 4.2.1, in DER (X.690).

/** A value of DER: its tag, its content, and all of its bytes. */
interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** Bytes that are not what they should be. */
class MalformedResponse extends Error {
  override readonly name = 'MalformedResponse';
}

const sequence = 0x30;
const ocspSigning = '1.3.6.1.5.5.7.3.9';
const basicResponse = '2b0601050507300101';
// An hour of clock skew would hide nothing.
const skewMs = 300_000;

// The digest of each signature algorithm, by its object identifier; null if the algorithm has its own.
const digests: ReadonlyMap<string, string | null> = new Map([
  ['2a864886f70d010105', 'sha1'],
  ['2a864886f70d01010b', 'sha256'],
  ['2a864886f70d01010c', 'sha384'],
  ['2a864886f70d01010d', 'sha512'],
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
  ['2b6570', null],
]);

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
  const wrong = (text: string) => failure('target', 'answer', text);
  if (staple === null) return wrong('the server staples no OCSP response');
  if (issuer === undefined) return wrong('the stapled OCSP response cannot be verified: the issuer is not known');
  try {
    return judge(staple, leaf, issuer, now);
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    return wrong(`the stapled OCSP response cannot be read: ${error.message}`);
  }
}

function judge(staple: Buffer, leaf: X509Certificate, issuer: X509Certificate, now: number): Failure | null {
  const wrong = (text: string) => failure('target', 'answer', `the stapled OCSP response ${text}`);
  const [status, bytes] = inside(value(staple), sequence);
  if (status?.content[0] !== 0) return wrong(`is an error: status ${status?.content[0] ?? 'missing'}`);
  const [type, octets] = inside(first(bytes), sequence);
  if (type?.content.toString('hex') !== basicResponse || octets === undefined) return wrong('is of an unknown type');
  const [data, algorithm, signature, certificates] = inside(value(octets.content), sequence);
  if (data === undefined || algorithm === undefined || signature === undefined)
    throw new MalformedResponse('it has no signature');
  const signed = { data, algorithm, signature: signature.content.subarray(1) };
  if (!isSigned(signed, issuer, certificates)) return wrong("is not signed by the certificate's issuer");
  const single = singleFor(data, leaf.serialNumber);
  if (single === null) return wrong('is about another certificate');
  const [, state, from, until] = single;
  if (timeOf(from) > now + skewMs) return wrong(`is not valid before ${isoTime(from)}`);
  if (until?.tag === 0xa0 && timeOf(first(until)) < now) return wrong(`expired on ${isoTime(first(until))}`);
  if (state?.tag === 0x80) return null;
  if (state?.tag !== 0xa1) return wrong('does not know the certificate');
  const [revokedAt] = children(state.content);
  return failure('target', 'certificate_untrusted', `the certificate was revoked on ${isoTime(revokedAt)}`);
}

interface SignedData {
  readonly data: DerValue;
  readonly algorithm: DerValue;
  readonly signature: Buffer;
}

// By the issuer itself, or by a responder that it has authorised (section 4.2.2.2).
function isSigned(
  { data, algorithm, signature }: SignedData,
  issuer: X509Certificate,
  certificates: DerValue | undefined,
): boolean {
  const [identifier] = children(algorithm.content);
  const digest = digests.get(identifier?.content.toString('hex') ?? '');
  if (digest === undefined) return false;
  const delegated = certificates === undefined ? [] : children(first(certificates).content);
  const responders = delegated.slice(0, 5).flatMap(({ whole }) => {
    const responder = certificateIn(whole);
    // Typed as a list, but undefined without the extension.
    const isForSigning = [responder.keyUsage].flat().includes(ocspSigning);
    const isAuthorised = isForSigning && responder.checkIssued(issuer) && responder.verify(issuer.publicKey);
    return isAuthorised ? [responder.publicKey] : [];
  });
  const keys = [issuer.publicKey, ...responders].filter(
    ({ asymmetricKeyType: type }) => (digest === null) === (type === 'ed25519'),
  );
  return keys.some((key) => verify(digest, data.whole, key, signature));
}

function certificateIn(bytes: Buffer): X509Certificate {
  try {
    return new Certificate(bytes);
  } catch (cause) {
    throw new MalformedResponse('the certificate of its responder is malformed', { cause });
  }
}

function singleFor(data: DerValue, serial: string): readonly DerValue[] | null {
  const responses = children(data.content).find(({ tag }) => tag === sequence);
  for (const one of children(responses?.content ?? Buffer.alloc(0)).slice(0, 100)) {
    const parts = children(one.content);
    const number = children(parts[0]?.content ?? Buffer.alloc(0))[3]?.content.toString('hex') ?? '';
    if (plainSerial(number) === plainSerial(serial)) return parts;
  }
  return null;
}

const plainSerial = (hex: string) => hex.toLowerCase().replace(/^0+/, '');

function timeOf(time: DerValue | undefined): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(time?.content.toString('latin1') ?? '') ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(at)) throw new MalformedResponse('it has no valid time');
  return at;
}

const isoTime = (time: DerValue | undefined) => new Date(timeOf(time)).toISOString();

function inside(outer: DerValue, tag: number): readonly DerValue[] {
  if (outer.tag !== tag) throw new MalformedResponse('a part of it has the wrong type');
  return children(outer.content);
}

function first(outer: DerValue | undefined): DerValue {
  if (outer === undefined) throw new MalformedResponse('a part of it is missing');
  return value(outer.content);
}

function children(bytes: Buffer): readonly DerValue[] {
  const found: DerValue[] = [];
  for (let left = bytes; left.length > 0;) {
    const one = value(left);
    found.push(one);
    left = left.subarray(one.whole.length);
  }
  return found;
}

function value(bytes: Buffer): DerValue {
  const [tag, short] = bytes;
  if (tag === undefined || short === undefined) throw new MalformedResponse('it is cut off');
  const more = short < 0x80 ? 0 : short & 0x7f;
  if (more > 4 || short === 0x80 || bytes.length < 2 + more) throw new MalformedResponse('a length in it is wrong');
  const length = more === 0 ? short : bytes.readUIntBE(2, more);
  const end = 2 + more + length;
  if (end > bytes.length) throw new MalformedResponse('it is cut off');
  return { tag, content: bytes.subarray(2 + more, end), whole: bytes.subarray(0, end) };
}
