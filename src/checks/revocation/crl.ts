import type { X509Certificate } from 'node:crypto';
import { type Failure, failure } from '../outcome.ts';
import {
  children,
  type DerValue,
  generalizedTimeTag,
  inside,
  integerTag,
  isoTime,
  MalformedDer,
  sequenceTag,
  timeOf,
  utcTimeTag,
  value,
} from './der.ts';
import { type IssuedCertificate, namesIn, type OcspVerdict, plainSerial, revokedFailure } from './ocsp.ts';
import { isSignedBy } from './signature.ts';

// RFC 5280, section 5, in DER (X.690).

const distributionPoints = '551d1f';
const issuingDistributionPoint = '551d1c';
const deltaIndicator = '551d1b';
const uriTag = 0x86;
const skewMs = 300_000;

/** Where the lists are that may name a certificate (section 4.2.1.13): those over HTTP that its own issuer signs. */
export function listAddresses(certificate: X509Certificate): readonly string[] {
  const [tbs] = children(value(certificate.raw).content);
  const extension = extensionOf(
    children(tbs?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === 0xa3),
    distributionPoints,
  );
  if (extension === null) return [];
  return inside(value(extension), sequenceTag).flatMap((point) => {
    const parts = children(point.content);
    // [2] names another issuer of the list, and [1] reasons that it is only about.
    if (parts.some(({ tag }) => tag === 0xa2 || tag === 0x81)) return [];
    return urisIn(parts.find(({ tag }) => tag === 0xa0));
  });
}

/** Reads and verifies a list about a certificate that was found at an address. */
export function judgeList(
  list: Buffer,
  { leaf, issuer }: IssuedCertificate,
  address: string,
  now: number,
): OcspVerdict {
  const what = `the revocation list at ${new URL(address).host}`;
  try {
    return judge(list, { leaf, issuer }, what, now);
  } catch (error) {
    if (!(error instanceof MalformedDer)) throw error;
    return { failure: failure('third_party', 'answer', `${what} cannot be read: ${error.message}`), until: null };
  }
}

function judge(list: Buffer, { leaf, issuer }: IssuedCertificate, what: string, now: number): OcspVerdict {
  const wrong = (text: string): { failure: Failure; until: null } => ({
    failure: failure('third_party', 'answer', `${what} ${text}`),
    until: null,
  });
  const [data, algorithm, signature] = inside(value(list), sequenceTag);
  if (data === undefined || algorithm === undefined || signature === undefined)
    throw new MalformedDer('it has no signature');
  if (!isSignedBy({ data, algorithm, signature }, [issuer.publicKey]))
    return wrong("is not signed by the certificate's issuer");
  const parts = [...children(data.content)];
  if (parts[0]?.tag === integerTag) parts.shift();
  const [, name, from, ...rest] = parts;
  const { issuerName, serial } = namesIn(leaf);
  if (name === undefined || !name.whole.equals(issuerName.whole)) return wrong('is that of another issuer');
  if (timeOf(from) > now + skewMs) return wrong(`is not valid before ${isoTime(from)}`);
  const next = rest[0]?.tag === utcTimeTag || rest[0]?.tag === generalizedTimeTag ? rest.shift() : undefined;
  const until = next === undefined ? null : timeOf(next);
  if (until !== null && until < now) return wrong(`expired on ${isoTime(next)}`);
  const extensions = rest.find(({ tag }) => tag === 0xa0);
  if (extensionOf(extensions, deltaIndicator) !== null) return wrong('has only what has changed');
  if (!isAboutShardOf(leaf, extensions)) return wrong('is about other certificates');
  const revokedAt = revocationTime(
    rest.find(({ tag }) => tag === sequenceTag),
    serial,
  );
  return revokedAt === null ? { failure: null, until } : { failure: revokedFailure(revokedAt), until: null };
}

// A list in parts says which part it is (section 5.2.5), so that another part cannot be put in its place.
function isAboutShardOf(leaf: X509Certificate, extensions: DerValue | undefined): boolean {
  const extension = extensionOf(extensions, issuingDistributionPoint);
  if (extension === null) return true;
  const point = inside(value(extension), sequenceTag).find(({ tag }) => tag === 0xa0);
  if (point === undefined) return true;
  const own = listAddresses(leaf);
  return urisIn(point).some((address) => own.includes(address));
}

// A list may have a million entries: they are looked at one by one only if the number is somewhere among them.
function revocationTime(revoked: DerValue | undefined, serial: DerValue): number | null {
  if (revoked?.content.includes(serial.whole) !== true) return null;
  const wanted = plainSerial(serial.content.toString('hex'));
  for (let left = revoked.content; left.length > 0;) {
    const entry = value(left);
    left = left.subarray(entry.whole.length);
    if (plainSerial(value(entry.content).content.toString('hex')) !== wanted) continue;
    return timeOf(children(entry.content)[1]);
  }
  return null;
}

/** The content of an extension by the hexadecimal digits of its identifier, out of the tagged list of all; null if it is not there. */
function extensionOf(tagged: DerValue | undefined, identifier: string): Buffer | null {
  if (tagged === undefined) return null;
  for (const extension of inside(value(tagged.content), sequenceTag)) {
    const parts = children(extension.content);
    if (parts[0]?.content.toString('hex') === identifier) return parts.at(-1)?.content ?? null;
  }
  return null;
}

// DistributionPointName: [0] fullName, a list of general names, of which [6] is an address.
function urisIn(point: DerValue | undefined): readonly string[] {
  const names = point === undefined ? [] : children(point.content).filter(({ tag }) => tag === 0xa0);
  return names
    .flatMap(({ content }) => children(content))
    .filter(({ tag }) => tag === uriTag)
    .map(({ content }) => content.toString('latin1'))
    .filter((address) => /^https?:\/\//i.test(address) && URL.canParse(address));
}
