import {
  createCipheriv,
  createECDH,
  createHash,
  createPrivateKey,
  type ECDH,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

/** A pair of keys on the curve P-256 by which push services know this installation (VAPID, RFC 8292). */
export interface PushKeys {
  /** Uncompressed, in base64url, as browsers take it (`applicationServerKey`). */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** Derives the keys from a secret text, which several hubs share. */
export function pushKeysOf(secret: string): PushKeys {
  const pair = createECDH('prime256v1');
  const d = createHash('sha256').update(`web push ${secret}`).digest();
  pair.setPrivateKey(d);
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map(base64url);
  const key = { kty: 'EC', crv: 'P-256', d: base64url(d), x: x ?? '', y: y ?? '' };
  return { publicKey: base64url(point), privateKey: createPrivateKey({ key, format: 'jwk' }) };
}

/** Whom a message is encrypted for: the keys of a subscription, in base64url. */
export interface PushReceiver {
  readonly p256dh: string;
  readonly auth: string;
}

/** The longest text in bytes: push services take at least 4,096 bytes (RFC 8291, 4), of which 103 are keys and padding. */
export const mostPushBytes = 3_993;

const recordBytes = 4_096;

/** Encrypts a message for one browser (RFC 8291) as one record of `aes128gcm` (RFC 8188). */
export function encryptPush(text: string, receiver: PushReceiver): Buffer {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  return encryptWith(text, receiver, pair, randomBytes(16));
}

/** The same with a given pair of keys and salt. */
export function encryptWith(text: string, { p256dh, auth }: PushReceiver, pair: ECDH, salt: Buffer): Buffer {
  const theirs = Buffer.from(p256dh, 'base64url');
  const own = pair.getPublicKey();
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, own]);
  const shared = derive(pair.computeSecret(theirs), Buffer.from(auth, 'base64url'), info, 32);
  const key = derive(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(shared, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  // 2 ends the last record.
  const body = [cipher.update(text, 'utf8'), cipher.update(Buffer.of(2)), cipher.final(), cipher.getAuthTag()];
  const header = Buffer.alloc(5);
  header.writeUInt32BE(recordBytes);
  header.writeUInt8(own.length, 4);
  return Buffer.concat([salt, header, own, ...body]);
}

/** The header `Authorization` for a push service (RFC 8292): who sends, for twelve hours. */
export function vapidHeader(
  { publicKey, privateKey }: PushKeys,
  { endpoint, contact, now }: { readonly endpoint: string; readonly contact: string | null; readonly now: number },
): string {
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(now / 1_000) + 43_200,
    ...(contact === null ? {} : { sub: contact }),
  };
  const parts = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => base64url(Buffer.from(JSON.stringify(part))));
  const token = parts.join('.');
  const signature = sign('sha256', Buffer.from(token), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${token}.${base64url(signature)}, k=${publicKey}`;
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url');

const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
