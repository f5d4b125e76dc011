import { type KeyObject, verify } from 'node:crypto';
import { children, type DerValue } from './der.ts';

/** What an authority has signed (RFC 5280, section 4.1.1.3): all bytes of the data, and the identifier of the algorithm. */
export interface SignedData {
  readonly data: DerValue;
  readonly algorithm: DerValue;
  /** A bit string. */
  readonly signature: DerValue;
}

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

/** Whether one of the keys has signed the data. */
export function isSignedBy({ data, algorithm, signature }: SignedData, keys: readonly KeyObject[]): boolean {
  const [identifier] = children(algorithm.content);
  const digest = digests.get(identifier?.content.toString('hex') ?? '');
  if (digest === undefined) return false;
  const fitting = keys.filter(({ asymmetricKeyType: type }) => (digest === null) === (type === 'ed25519'));
  return fitting.some((key) => verify(digest, data.whole, key, signature.content.subarray(1)));
}
