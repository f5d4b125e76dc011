import { type EnrolledNode, readEnrolmentList } from '#config/shape/enrolled.ts';
import { NodeName, type placeKeys } from '#config/shape/sections.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Secret } from '#kernel/secret.ts';
import { makeKeyPair } from '#transport/nats/keys.ts';
import { type EnrolmentFiles, publish } from './list.ts';

export type EnrolledLocation = Pick<EnrolledNode, keyof typeof placeKeys>;

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
  const { nodes, ...hubs } = await readEnrolmentList(files.nodesFile);
  requireName(name);
  if (Object.hasOwn(nodes, name)) throw usage(`node ${name} is enrolled already; revoke it first to give it a new key`);
  const { seed, key } = makeKeyPair();
  await keep(seed);
  const enrolled = { key, ...place, enrolled_at: new Date(now).toISOString() };
  await publish(files, { ...hubs, nodes: { ...nodes, [name]: enrolled } });
  return seed;
}

/** Takes a node's rights away. */
export async function revoke(files: EnrolmentFiles, name: string): Promise<void> {
  const { nodes, ...hubs } = await readEnrolmentList(files.nodesFile);
  const { [name]: known, ...left } = nodes;
  if (known === undefined) throw usage(`no node "${name}" is enrolled`);
  await publish(files, { ...hubs, nodes: left });
}

/** Gives a node another name; it keeps its key. */
export async function renameEnrolled(files: EnrolmentFiles, from: string, to: string): Promise<void> {
  const { nodes, ...hubs } = await readEnrolmentList(files.nodesFile);
  const { [from]: known, ...left } = nodes;
  if (known === undefined) throw usage(`no node "${from}" is enrolled`);
  requireName(to);
  if (to === from || Object.hasOwn(left, to)) throw usage(`node ${to} is enrolled already`);
  await publish(files, { ...hubs, nodes: { ...left, [to]: known } });
}

function requireName(name: string): void {
  if (!NodeName.safeParse(name).success)
    throw usage(`"${name}": the name of a node is two lower-case letters and a number`);
}

const usage = (message: string) => new WatchpostError('usage', message);
