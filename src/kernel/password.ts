import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

// As other programs write it: $scrypt$ln=<log2 of N>,r=<block size>,p=<parallelism>$<salt>$<hash>, in base64 without padding.
const pattern = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{16,86})\$([A-Za-z0-9+/]{22,86})$/;

interface HashCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

const usual: HashCost = { ln: 15, r: 8, p: 1 };

/** Why the text cannot be used as the hash of a password, or null. */
export function faultOfPasswordHash(text: string): string | null {
  const read = parse(text);
  if (read === null) return 'is no scrypt hash; "watchpost users hash" makes one';
  const { ln, r, p } = read.cost;
  const bytes = 128 * 2 ** ln * r;
  if (ln < 14 || r < 8 || p < 1) return 'is a hash that is guessed too fast: make one with "watchpost users hash"';
  return bytes * p > 2 ** 28 ? 'takes more than 256 MiB to look at: make one with "watchpost users hash"' : null;
}

/** A hash that the password cannot be found by, other than by guessing slowly. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, 32, usual);
  return `$scrypt$ln=${usual.ln},r=${usual.r},p=${usual.p}$${plain(salt)}$${plain(hash)}`;
}

/** Whether it is the password of this hash. Takes the same time whether or not it is. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const read = parse(hash);
  if (read === null) return false;
  return timingSafeEqual(await derive(password, read.salt, read.hash.length, read.cost), read.hash);
}

function parse(text: string) {
  const [, ln, r, p, salt = '', hash = ''] = pattern.exec(text.trim()) ?? [];
  if (ln === undefined) return null;
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

const plain = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

async function derive(password: string, salt: Buffer, length: number, { ln, r, p }: HashCost): Promise<Buffer> {
  const N = 2 ** ln;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, length, { N, r, p, maxmem: 256 * N * r }, (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    );
  });
}
