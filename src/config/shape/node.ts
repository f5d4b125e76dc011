import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { AddressRange, PluginCommands } from '#checks/index.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { FilePath } from '#kernel/file-path.ts';
import { always } from '#kernel/refine.ts';
import { dayMs } from '#kernel/units.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import type { EnvironmentVariables } from '../read/environment.ts';
import { explain, validate } from '../read/explain.ts';
import { configError, type Problem } from '../read/problem.ts';
import { Address, LocalAddress, NatsServers, NodeName } from './sections.ts';
import { readSources } from '../read/source.ts';
import { readYaml } from '../read/yaml.ts';

const keys = {
  name: NodeName.describe('The name that the node was enrolled under.'),
  servers: NatsServers.describe('The NATS servers: tls://host:4222, or wss://host over WebSocket.'),
  seed_file: FilePath.optional().describe('A file that holds the key of the node.'),
  seed: z.string().optional().describe('The key itself; better in the environment or a file.'),
  ca_file: FilePath.optional().describe(
    'A file of PEM certificates to trust for these servers instead of the usual ones.',
  ),
  spool_file: FilePath.default('spool.db').describe('Where results wait that the hub has not confirmed.'),
  spool_age: Duration({ min: '1m', max: '7d' }).default(dayMs).describe('How long a result may wait.'),
  spool_results: z.int().min(1).max(10_000_000).default(50_000).describe('How many results may wait.'),
  allow_private: z
    .boolean()
    .default(false)
    .describe('Whether checks may reach private addresses, if the hub asks for it.'),
  allow: z.array(AddressRange).max(100).default([]).describe('Ranges that checks may reach besides.'),
  deny: z.array(AddressRange).max(100).default([]).describe('Ranges that checks never reach.'),
  known_as: z.array(Address).max(10).default([]).describe('Public addresses that others reach this machine at.'),
  local_address: LocalAddress.optional().describe('The address to send checks from, or one of each family.'),
  asn_file: FilePath.optional().describe('A file of AS names for the hops of paths, in the format of ip2asn.'),
  docker_socket: FilePath.optional().describe(
    'The unix socket of the container engine that checks of the type docker ask, such as /run/docker.sock. Default: none.',
  ),
  systemd_socket: FilePath.optional().describe(
    'The unix socket of the message bus over which checks of the type systemd ask, such as /run/dbus/system_bus_socket. Default: none.',
  ),
  plugins: PluginCommands,
  in_flight: z.int().min(1).max(10_000).default(500).describe('How many checks run at the same time.'),
  queued: z.int().min(0).max(100_000).default(5_000).describe('How many more may wait.'),
  exit_when_refused: Duration({ min: '1s', max: '30d' })
    .default(600_000)
    .describe('How long the key may be refused until the node ends with exit code 77.'),
};
const NodeFile = z
  .strictObject(keys)
  .refine(({ seed, seed_file }) => (seed === undefined) !== (seed_file === undefined), {
    path: ['seed_file'],
    error: 'set exactly one of seed_file and seed',
    ...always,
  });

/** What a node on a machine of its own does. Times are milliseconds, paths absolute. */
export interface NodeConfig {
  readonly name: string;
  readonly servers: readonly string[];
  readonly seed: { readonly file: string } | { readonly text: string };
  readonly ca: string | null;
  readonly spool: { readonly path: string; readonly longestMs: number; readonly most: number };
  readonly policy: 'public' | 'private';
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly knownAs: readonly string[];
  readonly localAddress: { readonly 4?: string; readonly 6?: string };
  readonly asnFile: string | undefined;
  readonly dockerSocket: string | undefined;
  readonly systemdSocket: string | undefined;
  readonly plugins: PluginCommands;
  readonly inFlight: number;
  readonly queued: number;
  readonly refusedMs: number;
}

type Key = keyof typeof keys;
// A map of lists is no text: plugins stand in the file only.
export const nodeKeys = Object.entries(keys).flatMap(([key, { description = '' }]) =>
  key === 'plugins' ? [] : [{ key, description }],
);

/** The environment variable of a setting: `seed_file` is `WATCHPOST_NODE_SEED_FILE`. */
export const nodeVariable = (key: string) => `WATCHPOST_NODE_${key.toUpperCase()}`;
/** The flag of a setting: `seed_file` is `--seed-file`. */
export const nodeFlag = (key: string) => `--${key.replaceAll('_', '-')}`;
const lists: readonly string[] = ['servers', 'allow', 'deny', 'known_as', 'local_address'] satisfies Key[];
const numbers: readonly string[] = ['spool_results', 'in_flight', 'queued'] satisfies Key[];

export interface NodeSources {
  /** The YAML file, or null for none. */
  readonly path: string | null;
  readonly env: EnvironmentVariables;
  /** Texts by key; lists with commas. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * Puts a node's settings together: a flag wins over the environment, that over the file. Rejects with one `config_invalid`
 * that lists every mistake with where it was made.
 */
export async function loadNodeConfig({ path, env, flags, cwd }: NodeSources): Promise<NodeConfig> {
  const file = path === null ? null : await readSources(path);
  const [source] = file?.sources ?? [];
  const read = source === undefined ? null : readYaml(source, 0, env);
  const problems: Problem[] = [...(read?.problems ?? [])];
  if (read !== null && !read.wellFormed) throw configError(problems);

  const given = new Map<string, { readonly from: string; readonly value: unknown }>();
  for (const { key } of nodeKeys) {
    const variable = env[nodeVariable(key)];
    const flag = flags[key];
    if (flag !== undefined) given.set(key, { from: nodeFlag(key), value: valueOf(key, flag) });
    else if (variable !== undefined && variable !== '')
      given.set(key, { from: nodeVariable(key), value: valueOf(key, variable) });
  }
  const written = Object.fromEntries([...given].map(([key, { value }]) => [key, value]));
  // Both ways of giving the key are one setting.
  const below: Record<string, unknown> = { ...(isMap(read?.root.value) ? read.root.value : {}) };
  if ('seed' in written || 'seed_file' in written) for (const key of ['seed', 'seed_file']) delete below[key];
  const { output, issues } = validate(NodeFile, { ...below, ...written });

  const elsewhere: string[] = [];
  for (const issue of issues) {
    const key = String(issue.path[0] ?? '');
    const origin = given.get(key)?.from;
    const message = issue.message;
    if (origin !== undefined) elsewhere.push(`${origin}: ${message}`);
    else if (read !== null) problems.push(...explain(issue, read.root));
    else elsewhere.push(`${nodeFlag(key)} or ${nodeVariable(key)}: is missing: ${message}`);
  }
  if (output === null || problems.length > 0) {
    const inFile = problems.length > 0 ? configError(problems).message.split('\n') : [];
    throw new WatchpostError('config_invalid', [...inFile, ...elsewhere].join('\n'));
  }
  const folder = file?.folder ?? cwd;
  const place = (key: Key, name: string) => resolve(given.has(key) ? cwd : folder, name);
  return {
    name: output.name,
    servers: output.servers,
    seed: output.seed_file === undefined ? { text: output.seed ?? '' } : { file: place('seed_file', output.seed_file) },
    ca: output.ca_file === undefined ? null : await readCertificates(place('ca_file', output.ca_file)),
    spool: { path: place('spool_file', output.spool_file), longestMs: output.spool_age, most: output.spool_results },
    policy: output.allow_private ? 'private' : 'public',
    allow: output.allow,
    deny: output.deny,
    knownAs: output.known_as,
    localAddress: byFamily([output.local_address ?? []].flat()),
    asnFile: output.asn_file === undefined ? undefined : place('asn_file', output.asn_file),
    dockerSocket: output.docker_socket === undefined ? undefined : place('docker_socket', output.docker_socket),
    systemdSocket: output.systemd_socket === undefined ? undefined : place('systemd_socket', output.systemd_socket),
    plugins: output.plugins,
    inFlight: output.in_flight,
    queued: output.queued,
    refusedMs: output.exit_when_refused,
  };
}

function valueOf(key: string, text: string): unknown {
  if (lists.includes(key)) return text.split(',').map((part) => part.trim());
  if (numbers.includes(key)) return /^\d+$/.test(text) ? Number(text) : text;
  if (key === 'allow_private') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

async function readCertificates(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    throw new Error('holds no PEM certificate');
  } catch (error) {
    throw new WatchpostError('config_invalid', `ca_file: ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function byFamily(addresses: readonly string[]): NodeConfig['localAddress'] {
  const v4 = addresses.find((address) => isIP(address) === 4);
  const v6 = addresses.find((address) => isIP(address) === 6);
  return { ...(v4 === undefined ? {} : { 4: v4 }), ...(v6 === undefined ? {} : { 6: v6 }) };
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
