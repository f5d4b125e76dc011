import { stat } from 'node:fs/promises';
import { hubSeedFile } from '#config/hub.ts';
import { type EnrolmentList, readEnrolmentList } from '#config/shape/enrolled.ts';
import { Name } from '#config/shape/sections.ts';
import { systemCode, WatchpostError } from '#kernel/errors.ts';
import { unlessMissing } from '#kernel/files.ts';
import { makeKeyPair, publicKeyOf, readSeed, writeSeedFile } from '#transport/nats/keys.ts';
import { type EnrolmentFiles, publish, sharedKeyOf } from './list.ts';

/** Makes the hub's key, which several hubs may share, and both lists; keeps what is there. True if the key is new. */
export async function makeHub(files: EnrolmentFiles): Promise<boolean> {
  const made = await makeSeed(files.seedFile);
  const { shared_hub_key: before, ...list } = await readEnrolmentList(files.nodesFile);
  const isListed = list.hubs !== undefined || before !== undefined;
  await publish(files, isListed ? { ...list, shared_hub_key: await sharedKeyOf(files) } : list);
  return made;
}

/** Makes a key for one of several hubs, and both lists; keeps what is there. True if the key is new. */
export async function makeHubKey(files: EnrolmentFiles, name: string, now: number): Promise<boolean> {
  if (!Name.safeParse(name).success) throw usage(`"${name}" is no name of a hub`);
  const list = await readEnrolmentList(files.nodesFile);
  const path = hubSeedFile(files, name);
  const known = hubIn(list, name);
  if (known !== undefined && !(await isThere(path))) throw elsewhere(name, path);
  const made = await makeSeed(path);
  const key = publicKeyOf(await readSeed(path, wayOut(name)));
  if (known !== undefined && known.key !== key) throw elsewhere(name, path);
  const isFirst = list.hubs === undefined && list.shared_hub_key === undefined;
  const shared = isFirst && (await isThere(files.seedFile)) ? { shared_hub_key: await sharedKeyOf(files) } : {};
  const enrolled = known ?? { key, enrolled_at: new Date(now).toISOString() };
  await publish(files, { ...list, ...shared, hubs: { ...list.hubs, [name]: enrolled } });
  return made;
}

/** Takes the rights of a hub with a key of its own away; without a name, those of the key that hubs share. */
export async function revokeHubKey(files: EnrolmentFiles, name: string | null): Promise<void> {
  const list = await readEnrolmentList(files.nodesFile);
  const { shared_hub_key: shared, hubs = {}, nodes } = list;
  if (name !== null && hubIn(list, name) === undefined) throw usage(`no hub "${name}" has a key of its own`);
  if (name === null && shared === undefined && Object.keys(hubs).length > 0) throw usage('hubs share no key');
  const { [name ?? '']: _, ...left } = hubs;
  const kept = name === null ? undefined : shared;
  if (kept === undefined && Object.keys(left).length === 0)
    throw usage('no hub would have a key left: make another one first, with "watchpost nodes init"');
  await publish(files, { ...(kept !== undefined && { shared_hub_key: kept }), hubs: left, nodes });
}

async function makeSeed(path: string): Promise<boolean> {
  try {
    await writeSeedFile(path, makeKeyPair().seed);
    return true;
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === 'EEXIST') return false;
    throw error;
  }
}

const hubIn = ({ hubs = {} }: EnrolmentList, name: string) => (Object.hasOwn(hubs, name) ? hubs[name] : undefined);
const isThere = async (path: string) => (await unlessMissing(stat(path))) !== null;
const wayOut = (hub: string) => `make it with "watchpost nodes init --hub ${hub}"`;
const elsewhere = (hub: string, path: string) =>
  usage(
    `hub ${hub} has a key already, which is not in ${path}; revoke it first with "watchpost nodes revoke --hub ${hub}"`,
  );
const usage = (message: string) => new WatchpostError('usage', message);
