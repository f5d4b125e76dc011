import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type NodeEnrolments, type EnrolledNode, readEnrolled } from '#config/shape/enrolled.ts';
import { NodeName, type placeKeys } from '#config/shape/sections.ts';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import type { Secret } from '#kernel/secret.ts';
import { hubKeyWayOut, makeKeyPair, publicKeyOf, readSeed, writeSeedFile } from '#transport/nats/keys.ts';
import { permissionsFile } from '#transport/nats/permissions.ts';

/** The files that say which nodes there are. */
export interface EnrolmentFiles {
  /** The hub's key. */
  readonly seedFile: string;
  /** The list that the hub reads. */
  readonly nodesFile: string;
}

export type EnrolledLocation = Pick<EnrolledNode, keyof typeof placeKeys>;

/** The list that nats-server includes: beside the hub's, with the ending `.conf`. */
export const permissionsPath = ({ nodesFile }: Pick<EnrolmentFiles, 'nodesFile'>) =>
  `${nodesFile.replace(/\.[^./]*$/, '')}.conf`;

/** Makes the hub's key and both lists; keeps what is there. True if the key is new. */
export async function makeHub(files: EnrolmentFiles): Promise<boolean> {
  const made = await makeHubSeed(files.seedFile);
  await publish(files, await readEnrolled(files.nodesFile));
  return made;
}

/**
 * Enrols a node under a new key, and gives its seed, which is kept nowhere but where `keep` puts it: before the node is
 * enrolled, so that none is without its key.
 */
export async function enrol(
  files: EnrolmentFiles,
  name: string,
  place: EnrolledLocation,
  now: number,
  keep: (seed: Secret) => Promise<void> = async () => {},
): Promise<Secret> {
  const nodes = await readEnrolled(files.nodesFile);
  requireName(name);
  if (Object.hasOwn(nodes, name)) throw usage(`node ${name} is enrolled already; revoke it first to give it a new key`);
  const { seed, key } = makeKeyPair();
  await keep(seed);
  await publish(files, { ...nodes, [name]: { key, ...place, enrolled_at: new Date(now).toISOString() } });
  return seed;
}

/** Takes a node's rights away. */
export async function revoke(files: EnrolmentFiles, name: string): Promise<void> {
  const { [name]: known, ...left } = await readEnrolled(files.nodesFile);
  if (known === undefined) throw usage(`no node "${name}" is enrolled`);
  await publish(files, left);
}

/** Gives a node another name; it keeps its key. */
export async function renameEnrolled(files: EnrolmentFiles, from: string, to: string): Promise<void> {
  const { [from]: known, ...left } = await readEnrolled(files.nodesFile);
  if (known === undefined) throw usage(`no node "${from}" is enrolled`);
  requireName(to);
  if (to === from || Object.hasOwn(left, to)) throw usage(`node ${to} is enrolled already`);
  await publish(files, { ...left, [to]: known });
}

function requireName(name: string): void {
  if (!NodeName.safeParse(name).success)
    throw usage(`"${name}": the name of a node is two lower-case letters and a number`);
}

async function makeHubSeed(path: string): Promise<boolean> {
  try {
    await writeSeedFile(path, makeKeyPair().seed);
    return true;
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === 'EEXIST') return false;
    throw error;
  }
}

// The hub's list first: what the server lets in and the hub does not know is a stranger, which is harmless.
async function publish(files: EnrolmentFiles, nodes: NodeEnrolments): Promise<void> {
  const seed = await readSeed(files.seedFile, hubKeyWayOut);
  const holders = Object.entries(nodes).map(([name, { key }]) => ({ name, key }));
  await replaceFile(files.nodesFile, `${JSON.stringify({ nodes }, null, 2)}\n`);
  await replaceFile(permissionsPath(files), permissionsFile(publicKeyOf(seed), holders));
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

const usage = (message: string) => new WatchpostError('usage', message);
