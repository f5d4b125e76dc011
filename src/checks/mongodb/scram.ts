import { createHash, createHmac, pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { saslprep } from './saslprep.ts';

/** The server broke the protocol. */
export class ProtocolFault extends Error {
  override readonly name = 'ProtocolFault';
}

/** The mechanisms of MongoDB, the better one first. */
export const mechanisms = ['SCRAM-SHA-256', 'SCRAM-SHA-1'] as const;
export type ScramMechanism = (typeof mechanisms)[number];

const hashes = { 'SCRAM-SHA-256': ['sha256', 32], 'SCRAM-SHA-1': ['sha1', 20] } as const;

// The least is that of RFC 5802, section 5.1, and of RFC 7677, section 4. The most keeps a server from taking the processor.
const iterationRange = { least: 4_096, most: 1_000_000 };

const derive = promisify(pbkdf2);

/** What the password is to a mechanism (MongoDB's authentication specification). */
export function scramSecret(mechanism: ScramMechanism, username: string, password: string): string {
  if (mechanism === 'SCRAM-SHA-1') return createHash('md5').update(`${username}:mongo:${password}`).digest('hex');
  return saslprep(password) ?? password;
}

/** The client's side of one login (RFC 5802), without channel binding. */
export interface ScramLogin {
  readonly first: string;
  /** The answer to the server's first message. Throws a `ProtocolFault`. */
  answer(serverFirst: string, secret: string): Promise<ScramAnswer>;
}

export interface ScramAnswer {
  readonly final: string;
  /** Throws a `ProtocolFault` unless the server's last message proves that it knows the secret too. */
  verify(serverFinal: string): void;
}

/** Begins a login; `nonce` are printable characters without a comma that were never used before. */
export function startScram(mechanism: ScramMechanism, username: string, nonce: string): ScramLogin {
  const [hash, bytes] = hashes[mechanism];
  const hmac = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest();
  const bare = `n=${username.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`;
  return {
    first: `n,,${bare}`,
    async answer(serverFirst, secret) {
      const { r = '', s = '', i = '', m } = attributesOf(serverFirst);
      if (m !== undefined) throw new ProtocolFault('the server wants an extension of SCRAM');
      if (!r.startsWith(nonce) || r.length === nonce.length)
        throw new ProtocolFault('the server does not continue the nonce of the login');
      const [salt, iterations] = [Buffer.from(s, 'base64'), /^\d{1,7}$/.test(i) ? Number(i) : 0];
      if (salt.length === 0) throw new ProtocolFault('the server sends no salt');
      const { least, most } = iterationRange;
      if (iterations < least || iterations > most)
        throw new ProtocolFault(`the server wants ${i === '' ? 'no' : i} iterations, expected ${least} to ${most}`);
      const salted = await derive(secret, salt, iterations, bytes, hash);
      const withoutProof = `c=biws,r=${r}`;
      const all = `${bare},${serverFirst},${withoutProof}`;
      const clientKey = hmac(salted, 'Client Key');
      const signature = hmac(createHash(hash).update(clientKey).digest(), all);
      const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0));
      const expected = hmac(hmac(salted, 'Server Key'), all);
      return {
        final: `${withoutProof},p=${Buffer.from(proof).toString('base64')}`,
        verify(serverFinal) {
          const given = Buffer.from(attributesOf(serverFinal)['v'] ?? '', 'base64');
          if (given.length !== expected.length || !timingSafeEqual(given, expected))
            throw new ProtocolFault('the server did not prove that it knows the password');
        },
      };
    },
  };
}

function attributesOf(message: string): Readonly<Record<string, string>> {
  return Object.fromEntries(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}
