import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** What a server stores of a password (RFC 5802, section 3). */
export interface StoredSecret {
  readonly hash: 'sha256' | 'sha1';
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

const lengths = { sha256: 32, sha1: 20 };
const hmac = (hash: string, key: Buffer, text: string) => createHmac(hash, key).update(text).digest();
const digest = (hash: string, bytes: Uint8Array) => createHash(hash).update(bytes).digest();

export function store(hash: 'sha256' | 'sha1', secret: string, iterations: number): StoredSecret {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(secret, salt, iterations, lengths[hash], hash);
  const storedKey = digest(hash, hmac(hash, salted, 'Client Key'));
  return { hash, salt, iterations, storedKey, serverKey: hmac(hash, salted, 'Server Key') };
}

/** One login at the server: the first message has been answered. */
export interface ServerLogin {
  readonly first: string;
  /** The server's last message; null if the proof is wrong. */
  finish(clientFinal: string): string | null;
}

export function beginLogin(
  clientFirst: string,
  { hash, salt, iterations, storedKey, serverKey }: StoredSecret,
): ServerLogin {
  const bare = clientFirst.replace(/^n,,/, '');
  const clientNonce = /,r=(.*)$/.exec(bare)?.[1] ?? '';
  const nonce = `${clientNonce}${randomBytes(18).toString('base64')}`;
  const first = `r=${nonce},s=${salt.toString('base64')},i=${iterations}`;
  return {
    first,
    finish(clientFinal) {
      const [, withoutProof = '', given = '', proof = ''] = /^(c=biws,r=(.*)),p=(.*)$/.exec(clientFinal) ?? [];
      const all = `${bare},${first},${withoutProof}`;
      const signature = hmac(hash, storedKey, all);
      const clientKey = Buffer.from(proof, 'base64').map((byte, at) => byte ^ (signature[at] ?? 0));
      if (given !== nonce || !digest(hash, clientKey).equals(storedKey)) return null;
      return `v=${hmac(hash, serverKey, all).toString('base64')}`;
    },
  };
}
