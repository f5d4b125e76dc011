import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EnrolmentList } from '#config/shape/enrolled.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { hubKeyWayOut, publicKeyOf, readSeed } from '#transport/nats/keys.ts';
import { type HubKey, permissionsFile } from '#transport/nats/permissions.ts';

/** The files that say which nodes there are. */
export interface EnrolmentFiles {
  /** The key of the hub, or that all hubs share. */
  readonly seedFile: string;
  /** The list that the hub reads. */
  readonly nodesFile: string;
}

/** The list that nats-server includes: beside the hub's, with the ending `.conf`. */
export const permissionsPath = ({ nodesFile }: Pick<EnrolmentFiles, 'nodesFile'>) =>
  `${nodesFile.replace(/\.[^./]*$/, '')}.conf`;

/** The public key that hubs share. Rejects with `config_invalid` if there is none. */
export const sharedKeyOf = async ({ seedFile }: EnrolmentFiles): Promise<string> =>
  publicKeyOf(await readSeed(seedFile, hubKeyWayOut));

/** Writes both lists. The hub's first: what the server lets in and the hub does not know is a stranger, which is harmless. */
export async function publish(files: EnrolmentFiles, list: EnrolmentList): Promise<void> {
  const hubs = await hubKeysOf(files, list);
  const holders = Object.entries(list.nodes).map(([name, { key }]) => ({ name, key }));
  await replaceFile(files.nodesFile, `${JSON.stringify(list, null, 2)}\n`);
  await replaceFile(permissionsPath(files), permissionsFile(hubs, holders));
}

// A list without hubs says nothing of keys, as before there were any.
async function hubKeysOf(
  files: EnrolmentFiles,
  { hubs, shared_hub_key: listed }: EnrolmentList,
): Promise<readonly HubKey[]> {
  const own = Object.entries(hubs ?? {}).map(([name, { key }]) => ({ name, key }));
  const shared = listed ?? (own.length === 0 ? await sharedKeyOf(files) : null);
  return [...(shared === null ? [] : [{ name: null, key: shared }]), ...own];
}

// In one step, so that no reader ever sees half of it.
async function replaceFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
