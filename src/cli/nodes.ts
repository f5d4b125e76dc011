import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { hubAccount, readSeed } from '#compose/nats.ts';
import type { NatsAccess } from '#config/config.ts';
import {
  type Enrolled,
  type EnrolledNode,
  infosOf,
  readEnrolled,
  replaceFile,
  writeEnrolled,
} from '#config/enrolled.ts';
import { loadConfig } from '#config/load.ts';
import { NodeName, placeKeys } from '#config/sections.ts';
import { systemClock } from '#kernel/clock.ts';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';
import { permissionsFile } from '#transport/nats/permissions.ts';
import { askStatus } from '#transport/nats/status.ts';
import { nodeTable } from './node-table.ts';
import type { World } from './world.ts';

export interface EnrolmentOptions {
  readonly config: string;
  /** A command that makes nats-server read its configuration again. */
  readonly reloadCommand?: string | undefined;
  /** The file that holds the process id of nats-server. */
  readonly pidFile?: string | undefined;
}

export interface PlaceOptions {
  readonly location?: string | undefined;
  readonly asn?: string | undefined;
  readonly ip?: string | undefined;
}

/** Makes the hub's key and the files that nats-server needs to know it; keeps what is there. */
export async function initNodes(options: EnrolmentOptions, world: World): Promise<number> {
  const access = await accessOf(options, world);
  const made = await makeHubSeed(access.seedFile);
  await publish(access, await readEnrolled(access.nodesFile), options, world);
  world.print(`${made ? 'the key of the hub is in' : 'the hub has its key in'} ${access.seedFile}\n`);
  world.print(`nats-server has to include ${permissionsPath(access)} under authorization\n`);
  return 0;
}

export interface AddOptions extends EnrolmentOptions, PlaceOptions {
  /** A new file to write the key to, instead of printing it. */
  readonly writeSeed?: string | undefined;
}

export async function addNode(name: string, options: AddOptions, world: World): Promise<number> {
  const access = await accessOf(options, world, name);
  const nodes = await readEnrolled(access.nodesFile);
  if (!NodeName.safeParse(name).success) throw usage(`"${name}": a node is named by two small letters and a number`);
  if (Object.hasOwn(nodes, name)) throw usage(`node ${name} is enrolled already; revoke it first to give it a new key`);
  const pair = createUser();
  const place = placeOf(options);
  const node: EnrolledNode = {
    key: pair.getPublicKey(),
    ...place,
    enrolled_at: new Date(systemClock.now()).toISOString(),
  };
  const seed = new TextDecoder().decode(pair.getSeed());
  if (options.writeSeed !== undefined) await writeSeed(options.writeSeed, seed);
  await publish(access, { ...nodes, [name]: node }, options, world);
  if (options.writeSeed !== undefined) {
    world.print(`node ${name} is enrolled; its key is in ${options.writeSeed} and nowhere else\n`);
    return 0;
  }
  world.print(`node ${name} is enrolled. Its key is shown now and never again; on the node, once:\n\n`);
  world.print(`  (umask 077; echo ${seed} > ${name}.nk)\n`);
  world.print(`  watchpost node --name ${name} --servers ${access.servers.join(',')} --seed-file ${name}.nk`);
  world.print(`${access.ca === null ? '' : ' --ca-file ca.pem'}\n`);
  return 0;
}

export async function revokeNode(name: string, options: EnrolmentOptions, world: World): Promise<number> {
  const access = await accessOf(options, world);
  const { [name]: known, ...left } = await readEnrolled(access.nodesFile);
  if (known === undefined) throw usage(`no node "${name}" is enrolled`);
  await publish(access, left, options, world);
  world.print(`node ${name} is revoked: its key is worth nothing any more\n`);
  return 0;
}

export async function renameNode(from: string, to: string, options: EnrolmentOptions, world: World): Promise<number> {
  const access = await accessOf(options, world, to);
  const nodes = await readEnrolled(access.nodesFile);
  const { [from]: known, ...left } = nodes;
  if (known === undefined) throw usage(`no node "${from}" is enrolled`);
  if (!NodeName.safeParse(to).success) throw usage(`"${to}": a node is named by two small letters and a number`);
  if (Object.hasOwn(nodes, to)) throw usage(`node ${to} is enrolled already`);
  await publish(access, { ...left, [to]: known }, options, world);
  world.print(`node ${from} is ${to} now. Start it with --name ${to}; its history stays under ${from}\n`);
  return 0;
}

/** The enrolled nodes, and how they are where the hub answers. */
export async function listNodes(options: EnrolmentOptions, world: World): Promise<number> {
  const access = await accessOf(options, world);
  const infos = infosOf(await readEnrolled(access.nodesFile));
  try {
    const { nodes } = await askStatus({ ...(await hubAccount(access)), name: 'watchpost nodes list' });
    world.print(nodeTable(infos, nodes));
  } catch (error) {
    world.print(nodeTable(infos, []));
    world.printError(`the hub could not be asked how they are: ${messageOf(error)}\n`);
  }
  return 0;
}

const permissionsPath = ({ nodesFile }: NatsAccess) => `${nodesFile.replace(/\.[^./]*$/, '')}.conf`;

// A name that the configuration has already would make the next start fail.
async function accessOf({ config: path }: EnrolmentOptions, world: World, name?: string): Promise<NatsAccess> {
  const { nats, nodes } = await loadConfig({ path, env: world.env });
  if (nodes.some(({ info }) => info.name === name)) throw usage(`${path} has a node "${name}" of its own`);
  if (nats === null)
    throw new WatchpostError('config_invalid', `${path}: there is no nats section; nodes join through it`);
  return nats;
}

async function makeHubSeed(path: string): Promise<boolean> {
  try {
    await writeSeed(path, new TextDecoder().decode(createUser().getSeed()));
    return true;
  } catch (error) {
    if (error instanceof Error && systemCode(error.cause) === 'EEXIST') return false;
    throw error;
  }
}

async function writeSeed(path: string, seed: string): Promise<void> {
  try {
    await writeFile(path, `${seed}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new WatchpostError('config_invalid', `${path}: cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

// The list first: what the server lets in and the hub does not know is a stranger, which is harmless.
async function publish(access: NatsAccess, nodes: Enrolled, options: EnrolmentOptions, world: World): Promise<void> {
  const seed = await readSeed(access.seedFile, 'make it with "watchpost nodes init"');
  const hubKey = fromSeed(new TextEncoder().encode(seed.reveal())).getPublicKey();
  const holders = Object.entries(nodes).map(([name, { key }]) => ({ name, key }));
  await writeEnrolled(access.nodesFile, nodes);
  await replaceFile(permissionsPath(access), permissionsFile(hubKey, holders));
  await reload(access, options, world);
}

async function reload(access: NatsAccess, { reloadCommand, pidFile }: EnrolmentOptions, world: World): Promise<void> {
  try {
    if (pidFile !== undefined) world.hangUp(processIdOf(await readFile(pidFile, 'utf8')));
    else if (reloadCommand !== undefined) await promisify(execFile)('sh', ['-c', reloadCommand]);
    else {
      const file = basename(permissionsPath(access));
      world.print(
        `nats-server has to read ${file} again: nats-server --signal reload (or --pid-file, --reload-command)\n`,
      );
    }
  } catch (error) {
    const reason = `the files are written, but nats-server was not told: ${messageOf(error)}; reload it by hand`;
    throw new WatchpostError('internal', reason, { cause: error });
  }
}

function processIdOf(text: string): number {
  const pid = Number(text.trim());
  // 0 and negative numbers would be whole groups of processes.
  if (!Number.isSafeInteger(pid) || pid < 2) throw new Error('the file holds no process id');
  return pid;
}

function placeOf({ location, asn, ip }: PlaceOptions): Pick<EnrolledNode, 'location' | 'asn' | 'ip'> {
  const parts = location?.split(',').map((part) => part.trim().replace(/^"(.*)"$/, '$1'));
  return {
    ...(parts === undefined ? {} : { location: valid('--location', placeKeys.location, parts) }),
    ...(asn === undefined ? {} : { asn: valid('--asn', placeKeys.asn, asn) }),
    ...(ip === undefined ? {} : { ip: valid('--ip', placeKeys.ip, ip) }),
  };
}

function valid<Value>(
  flag: string,
  schema: { safeParse(value: unknown): { data?: Value; error?: { issues: { message: string }[] } } },
  value: unknown,
): Exclude<Value, undefined> {
  const { data, error } = schema.safeParse(value);
  if (data === undefined) throw usage(`${flag}: ${error?.issues[0]?.message ?? 'is wrong'}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is not undefined by the line above
  return data as Exclude<Value, undefined>;
}

const usage = (message: string) => new WatchpostError('usage', message);
