import { basename } from 'node:path';
import { embeddedSeedFile, hubSeedFile } from '#config/hub.ts';
import type { Config, NatsAccess } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { placeKeys } from '#config/shape/sections.ts';
import { enrol, type EnrolledLocation, renameEnrolled, revoke } from '#enrolment/enrol.ts';
import { makeHub, makeHubKey, revokeHubKey } from '#enrolment/hub-keys.ts';
import { permissionsPath } from '#enrolment/list.ts';
import { enrolledLocationOf, infosOf, readEnrolled } from '#config/shape/enrolled.ts';
import { type Reload, reloadServer } from '#enrolment/reload.ts';
import { systemClock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import type { Secret } from '#kernel/secret.ts';
import { hubAccount, writeSeedFile } from '#transport/nats/keys.ts';
import { askStatus } from '#transport/nats/status.ts';
import { jsonText } from '../shared/json.ts';
import { nodeTable } from './node-table.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface EnrolmentOptions extends Reload {
  readonly config: string;
  readonly json?: boolean;
}

export interface LocationOptions {
  readonly location?: string | undefined;
  readonly asn?: string | undefined;
  readonly ip?: string | undefined;
}

export interface InitOptions extends EnrolmentOptions {
  /** The hub that gets a key of its own; default: the key is for all hubs. */
  readonly hub?: string | undefined;
}

/** Makes the hub's key and the files that nats-server needs to know it; keeps what is there. */
export async function initNodes(options: InitOptions, context: CommandContext): Promise<number> {
  const access = await accessOf(options, context);
  const { hub } = options;
  const made = hub === undefined ? await makeHub(access) : await makeHubKey(access, hub, systemClock.now());
  const include = permissionsPath(access);
  const file = hub === undefined ? access.seedFile : hubSeedFile(access, hub);
  const whose = hub === undefined ? 'the hub' : `hub ${hub}`;
  const done = { made, ...(hub !== undefined && { hub }), seed_file: file, include };
  return enrolled(access, options, context, done, [
    `${made ? `the key of ${whose} is in` : `${whose} has its key in`} ${file}`,
    ...(hub === undefined ? [] : [`hub ${hub} uses it from its next start on if it is beside its seed_file`]),
    `nats-server has to include ${include} under authorization`,
  ]);
}

export interface AddOptions extends EnrolmentOptions, LocationOptions {
  /** A new file to write the key to, instead of printing it. */
  readonly writeSeed?: string | undefined;
}

export async function addNode(name: string, options: AddOptions, context: CommandContext): Promise<number> {
  const { access, config } = await readAccess(options, context);
  const own = config.nodes.find(({ info }) => info.name === name);
  if (own !== undefined && config.hubs === null) throw ownName(options, name);
  const writeSeed = options.writeSeed ?? (own === undefined ? undefined : embeddedSeedFile(access, name));
  const keep = writeSeed === undefined ? undefined : async (seed: Secret) => writeSeedFile(writeSeed, seed);
  const place = { ...(own === undefined ? {} : enrolledLocationOf(own.info)), ...placeOf(options) };
  const seed = await enrol(access, name, place, systemClock.now(), keep);
  const { servers } = access;
  if (writeSeed !== undefined) {
    const words = [`node ${name} is enrolled; its key is in ${writeSeed} and nowhere else`];
    if (own !== undefined)
      words.push(`node ${name} is inside this hub: restart it, and copy the list to the other hubs`);
    return enrolled(access, options, context, { name, servers, seed_file: writeSeed }, words);
  }
  const authority = access.ca === null ? '' : ' --ca-file ca.pem';
  return enrolled(access, options, context, { name, servers, seed: seed.reveal() }, [
    `node ${name} is enrolled. Its key is shown now and never again; on the node, once:`,
    '',
    `  (umask 077; echo ${seed.reveal()} > ${name}.nk)`,
    `  watchpost node --name ${name} --servers ${servers.join(',')} --seed-file ${name}.nk${authority}`,
  ]);
}

export interface RevokeOptions extends EnrolmentOptions {
  /** A hub with a key of its own, in place of a node. */
  readonly hub?: string | undefined;
  /** The key that hubs share, in place of a node. */
  readonly sharedKey?: boolean | undefined;
}

export async function revokeNode(
  name: string | undefined,
  options: RevokeOptions,
  context: CommandContext,
): Promise<number> {
  const { hub, sharedKey = false } = options;
  if ([name !== undefined, hub !== undefined, sharedKey].filter(Boolean).length !== 1)
    throw usage('name a node, or a hub with --hub, or give --shared-key');
  const access = await accessOf(options, context);
  if (name === undefined) {
    await revokeHubKey(access, hub ?? null);
    const words = hub === undefined ? 'the key that hubs shared is revoked' : `the key of hub ${hub} is revoked`;
    const done = hub === undefined ? { revoked_shared_key: true } : { revoked_hub: hub };
    return enrolled(access, options, context, done, [`${words}: it is no longer accepted`]);
  }
  await revoke(access, name);
  return enrolled(access, options, context, { revoked: name }, [
    `node ${name} is revoked: its key is no longer accepted`,
  ]);
}

export async function renameNode(
  from: string,
  to: string,
  options: EnrolmentOptions,
  context: CommandContext,
): Promise<number> {
  const access = await accessOf(options, context, to);
  await renameEnrolled(access, from, to);
  return enrolled(access, options, context, { from, to }, [
    `node ${from} is ${to} now. Start it with --name ${to}; its history stays under ${from}`,
  ]);
}

/** The enrolled nodes, and how they are where the hub answers. */
export async function listNodes({ json, ...options }: EnrolmentOptions, context: CommandContext): Promise<number> {
  const access = await accessOf(options, context);
  const infos = infosOf(await readEnrolled(access.nodesFile));
  let statuses: Awaited<ReturnType<typeof askStatus>>['nodes'] = [];
  try {
    statuses = (await askStatus({ ...(await hubAccount(access)), name: 'watchpost nodes list' })).nodes;
  } catch (error) {
    context.printError(`cannot read their state from the hub: ${messageOf(error)}\n`);
  }
  const shown = () =>
    infos.map((info) => ({ ...info, status: statuses.find(({ name }) => name === info.name) ?? null }));
  context.print(json === true ? jsonText(shown()) : nodeTable(infos, statuses));
  return 0;
}

async function readAccess(
  { config: path }: EnrolmentOptions,
  context: CommandContext,
): Promise<{ readonly access: NatsAccess; readonly config: Config }> {
  const config = await loadConfig({ path, env: context.env, mayNodesCome: true });
  if (config.nats === null)
    throw new WatchpostError('config_invalid', `${path}: there is no nats section; nodes join through it`);
  return { access: config.nats, config };
}

// A name that the configuration has already would make the next start fail.
async function accessOf(options: EnrolmentOptions, context: CommandContext, name?: string): Promise<NatsAccess> {
  const { access, config } = await readAccess(options, context);
  if (name !== undefined && config.nodes.some(({ info }) => info.name === name)) throw ownName(options, name);
  return access;
}

const ownName = ({ config: path }: EnrolmentOptions, name: string) => usage(`${path} has a node "${name}" of its own`);

/** Signals nats-server to reload the list, and prints what was done: as words, or as JSON. */
async function enrolled(
  access: NatsAccess,
  { json, ...options }: EnrolmentOptions,
  context: CommandContext,
  done: Readonly<Record<string, unknown>>,
  words: readonly string[],
): Promise<number> {
  const isReloaded = await reloadServer(options, (pid) => context.hangUp(pid));
  if (json === true) {
    context.print(jsonText({ ...done, server_told: isReloaded }));
    return 0;
  }
  const file = basename(permissionsPath(access));
  const rest = `nats-server has to read ${file} again: nats-server --signal reload (or --pid-file, --reload-command)`;
  for (const line of [...(isReloaded ? [] : [rest]), ...words]) context.print(`${line}\n`);
  return 0;
}

function placeOf({ location, asn, ip }: LocationOptions): EnrolledLocation {
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
