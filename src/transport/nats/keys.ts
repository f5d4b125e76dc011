import { readFile, stat, writeFile } from 'node:fs/promises';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { unlessMissing } from '#kernel/files.ts';
import { Secret } from '#kernel/secret.ts';
import { inboxOf } from '#protocol/nodes.ts';
import type { Account } from './connection.ts';

/** A new nkey of a user. */
export interface KeyPair {
  readonly seed: Secret;
  /** The public key, such as `UABC...`. */
  readonly key: string;
}

export function makeKeyPair(): KeyPair {
  const pair = createUser();
  return { seed: new Secret(new TextDecoder().decode(pair.getSeed())), key: pair.getPublicKey() };
}

/** The public key that belongs to a seed. */
export function publicKeyOf(seed: Secret): string {
  return fromSeed(new TextEncoder().encode(seed.reveal())).getPublicKey();
}

/** Reads the seed of an nkey; `wayOut` says what to do if there is none. Rejects with `config_invalid`. */
export async function readSeed(path: string, wayOut: string): Promise<Secret> {
  try {
    return parseSeed((await readFile(path, 'utf8')).trim());
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: holds no nkey seed (${messageOf(error)}); ${wayOut}`, {
      cause: error,
    });
  }
}

/** Writes a seed into a new file that only its owner may read. Rejects with `config_invalid`, also if the file exists. */
export async function writeSeedFile(path: string, seed: Secret): Promise<void> {
  try {
    await writeFile(path, `${seed.reveal()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Throws if the text is no seed of a user's nkey. */
export function parseSeed(text: string): Secret {
  if (!text.startsWith('SU')) throw new Error('a seed begins with SU');
  fromSeed(new TextEncoder().encode(text));
  return new Secret(text);
}

/** What to do if the hub has no key. */
export const hubKeyWayOut = 'make it with "watchpost nodes init"';

/** How to reach NATS as the hub does. */
export interface HubAccess extends Pick<Account, 'servers' | 'ca'> {
  readonly seedFile: string;
  /** The key of this hub alone, which is used if it is there; null if it can have none. */
  readonly ownSeedFile: string | null;
}

/** The file of the key by which the hub signs in. */
export async function seedFileOf({ seedFile, ownSeedFile }: Omit<HubAccess, 'servers' | 'ca'>): Promise<string> {
  const own = ownSeedFile === null ? null : await unlessMissing(stat(ownSeedFile));
  return own === null || ownSeedFile === null ? seedFile : ownSeedFile;
}

/** How the hub signs in. Rejects with `config_invalid` if its key cannot be used. */
export async function hubAccount({ servers, ca, ...files }: HubAccess): Promise<Account> {
  const seed = await readSeed(await seedFileOf(files), hubKeyWayOut);
  return { servers, seed, ca, name: 'watchpost hub', inbox: inboxOf('hub') };
}
