import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askHubs, askToYield, type HubStatus } from '#hubs/peers.ts';
import { connectionTimes, dial } from '#transport/nats/connection.ts';
import { mortal } from './children.ts';
import { type HttpTarget, startHttpTarget } from './http-target.ts';
import type { MachineWorld } from './machines.ts';
import { type NatsServer, startNats } from './nats-server.ts';
import { createProgram, eventually, type Program, query, type Running } from './program.ts';
import { type Relay, startRelay } from './relay.ts';
import { type SmtpSink, startSmtp } from './smtp.ts';
import { closedPort } from './tcp-servers.ts';
import { testedProgram } from './tested-program.ts';

const root = new URL('../../', import.meta.url).pathname;

/** A hub as a process, in a folder of its own. */
export interface FleetHub {
  readonly name: string;
  readonly program: Program;
  readonly url: string;
  /** Its way to NATS. */
  readonly link: Pick<Relay, 'swallow' | 'mend'>;
  /** The process, while it runs. */
  running: Running | null;
  /** `edit` changes its configuration. */
  start(edit?: (config: string) => string): Promise<Running>;
  /** Has it hand over. */
  yield(): Promise<void>;
}

/** A node as a process. */
export interface FleetNode {
  readonly name: string;
  start(): void;
  signal(signal: NodeJS.Signals): void;
  /** Kills it. */
  stop(): Promise<void>;
}

/** Hubs that share one history, one nats-server with JetStream, nodes, a target and a mail server. */
export interface Fleet extends AsyncDisposable {
  /** The first of the servers. */
  readonly nats: NatsServer;
  readonly servers: readonly NatsServer[];
  readonly target: HttpTarget;
  readonly smtp: SmtpSink;
  readonly hubs: readonly FleetHub[];
  readonly nodes: readonly FleetNode[];
  hub(name: string): FleetHub;
  statuses(): Promise<readonly HubStatus[]>;
  /** Waits until a hub leads that is not `but`. */
  leader(but?: string): Promise<FleetHub>;
  /** Waits until all of these hubs have applied the same. */
  agreed(hubs?: readonly FleetHub[]): Promise<void>;
}

export interface FleetOptions {
  readonly hubs?: readonly string[];
  readonly nodes?: readonly string[];
  /** How many nats-servers there are: one, or three in a cluster. */
  readonly serverCount?: 1 | 3;
  /** Variables of the process of each hub besides ours, by hub. */
  readonly environments?: Readonly<Record<string, NodeJS.ProcessEnv>>;
  /** Names of the nodes inside each hub, by hub. */
  readonly embedded?: Readonly<Record<string, string>>;
  /** Whether these have keys of their own, so that they serve whichever hub leads; default: they have. */
  readonly isEnrolled?: boolean;
  /** More targets, and what follows them in the configuration. */
  readonly targets?: string;
  /** Default: that of the program. */
  readonly notifyAfter?: string;
  /** A machine for each hub, nats-server and node, and where they reach the target and the mail server. */
  readonly world?: MachineWorld;
}

export async function startFleet({
  hubs: names = ['a', 'b'],
  nodes = ['us1'],
  serverCount = 1,
  environments = {},
  embedded = {},
  isEnrolled = true,
  targets = '',
  notifyAfter = '10m',
  world,
}: FleetOptions = {}): Promise<Fleet> {
  await using stack = new AsyncDisposableStack();
  const [nats, ...more] = await startServers(
    serverCount,
    [...nodes, ...(isEnrolled ? Object.values(embedded) : [])],
    stack,
    world,
  );
  const servers = [nats, ...more];
  const host = world?.address ?? '127.0.0.1';
  const target = stack.use(await startHttpTarget(world?.address));
  const smtp = stack.use(await startSmtp({ listen: { host, port: 0 } }));
  const hubs: FleetHub[] = [];
  for (const [index, name] of names.entries()) {
    const machine = world?.machines[index];
    const where = machine === undefined ? {} : { prefix: machine.prefix, disk: machine.hubDisk.folder };
    const program = stack.use(await createProgram({ environment: environments[name] ?? {}, ...where }));
    const port = await closedPort();
    const relays: Relay[] = [];
    if (world === undefined) for (const { port: to } of servers) relays.push(stack.use(await startRelay(to)));
    const near = world === undefined ? relays.map((relay) => `nats://127.0.0.1:${relay.port}`) : urlsOf(servers);
    const ways = near.map((url) => `"${url}"`).join(', ');
    mkdirSync(join(program.folder, 'nodes'));
    writeFileSync(join(program.folder, 'hub.nk'), nats.hub.seed.reveal(), { mode: 0o600 });
    const own = embedded[name];
    const keys = own === undefined ? undefined : nats.nodes.get(own);
    if (keys !== undefined) writeFileSync(join(program.folder, `${own}.nk`), keys.seed.reveal(), { mode: 0o600 });
    const enrolled = [...nats.nodes].map(([node, { key }]) => [node, { key, enrolled_at: '2026-01-01T00:00:00Z' }]);
    writeFileSync(join(program.folder, 'nodes', 'nodes.json'), JSON.stringify({ nodes: Object.fromEntries(enrolled) }));
    const config = `
data: watchpost.db
http: { listen: "127.0.0.1:${port}" }
smtp: { url: "smtp://${host}:${smtp.port}", from: alerts@example.com }
nats: { servers: [${ways}] }
hubs: { name: ${name}, notify_after: ${notifyAfter} }
nodes: { ${name in embedded ? `${embedded[name]}: {}` : ''} }
defaults: { every: 1s, notify: [ops] }
rules: { quick: { rounds: 2, recover: 2, confirm: false } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s, group_interval: 1s, storm: { messages: 10000, per: 1m } } }
targets:
  shop: { check: http, host: "${target.url}", timeout: 900ms, rules: [quick] }
${targets}`;
    const hub: FleetHub = {
      name,
      program,
      url: `http://127.0.0.1:${port}`,
      link: {
        swallow: (which) => relays.forEach((relay) => relay.swallow(which)),
        mend: () => relays.forEach((relay) => relay.mend()),
      },
      running: null,
      async start(edit = (text) => text) {
        hub.running = await program.start(edit(config));
        return hub.running;
      },
      yield: async () => overNats(servers, async (connection) => askToYield(connection, name)),
    };
    hubs.push(hub);
  }
  const remote = startNodes(servers, nodes, stack, world);
  const statuses = async () => overNats(servers, askHubs);
  const find = (name: string) => {
    const found = hubs.find((hub) => hub.name === name);
    if (found === undefined) throw new Error(`there is no hub ${name}`);
    return found;
  };
  const rest = stack.move();
  return {
    nats,
    servers,
    target,
    smtp,
    hubs,
    nodes: remote,
    hub: find,
    statuses,
    leader: async (but) =>
      eventually(60_000, async () => {
        const leading = (await statuses()).find(({ role, name }) => role === 'leader' && name !== but);
        if (leading === undefined) throw new Error('no hub leads');
        return find(leading.name);
      }),
    agreed: async (wanted = hubs) =>
      eventually(60_000, async () => {
        const known = (await statuses()).filter(({ name }) => wanted.some((hub) => hub.name === name));
        const positions = new Set(known.map(({ applied }) => JSON.stringify(applied)));
        if (known.length < wanted.length || positions.size > 1)
          throw new Error(`they differ: ${[...positions].join()}`);
      }),
    [Symbol.asyncDispose]: async () => rest.disposeAsync(),
  };
}

type NatsConnection = Parameters<typeof askHubs>[0];

async function overNats<Result>(
  servers: readonly NatsServer[],
  act: (connection: NatsConnection) => Promise<Result>,
): Promise<Result> {
  const [nats] = servers;
  if (nats === undefined) throw new Error('there is no nats-server');
  const account = { ...nats.account(), servers: urlsOf(servers), name: 'test' };
  const connection = await dial(account, connectionTimes);
  try {
    return await act(connection);
  } finally {
    await connection.close();
  }
}

/** Gives each server JetStream; three are a cluster. */
async function startServers(
  count: 1 | 3,
  nodes: readonly string[],
  stack: AsyncDisposableStack,
  world: MachineWorld | undefined,
): Promise<[NatsServer, ...NatsServer[]]> {
  const machines = world?.machines ?? [];
  const hosts = Array.from({ length: count }, (_, index) => machines[index]?.address ?? '127.0.0.1');
  const first = stack.use(await startNats({ nodes, machine: machines[0] }));
  const servers: [NatsServer, ...NatsServer[]] = [first];
  while (servers.length < count)
    servers.push(stack.use(await startNats({ like: first, machine: machines[servers.length] })));
  const routes: number[] = [];
  for (const _ of servers) routes.push(await closedPort());
  const all = routes.map((port, index) => `"nats://${hosts[index]}:${port}"`).join(', ');
  for (const server of servers) await server.stop();
  const start = async (server: NatsServer, index: number) =>
    server.start(
      `server_name: s${index}\njetstream { store_dir: "${join(server.folder, 'jetstream')}" }\n${
        count === 1 ? '' : `cluster { name: test, listen: "${hosts[index]}:${routes[index]}", routes: [${all}] }`
      }`,
    );
  await Promise.all(servers.map(start));
  return servers;
}

function startNodes(
  servers: readonly NatsServer[],
  names: readonly string[],
  stack: AsyncDisposableStack,
  world: MachineWorld | undefined,
): readonly FleetNode[] {
  const [nats] = servers;
  if (nats === undefined) return [];
  const folder = world?.folder ?? nats.folder;
  return names.map((name, index) => {
    const { seed } = nats.account(name);
    const seedFile = join(folder, `${name}.nk`);
    writeFileSync(seedFile, seed.reveal(), { mode: 0o600 });
    const place = ['--servers', urlsOf(servers).join(','), '--seed-file', seedFile, '--allow-private'];
    const words = [testedProgram, 'node', '--name', name, ...place, '--spool-file', join(folder, `${name}.db`)];
    const [command = '', ...args] = [...(world?.machines[index]?.prefix ?? []), process.execPath, ...words];
    let child: ChildProcess | null = null;
    const node: FleetNode = {
      name,
      start: () => void (child = mortal(spawn(command, args, { cwd: root, stdio: 'ignore' }))),
      signal: (signal) => void child?.kill(signal),
      async stop() {
        if (child === null || child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      },
    };
    stack.defer(async () => node.stop());
    node.start();
    return node;
  });
}

const urlsOf = (servers: readonly NatsServer[]) => servers.map(({ url }) => url);

/** The rounds of the target in the database of a hub, oldest first. */
export function roundsOf({ program }: FleetHub): readonly { readonly due: number; readonly status: string }[] {
  return query(program.database, `SELECT due_at AS due, status FROM history WHERE target = 'shop' ORDER BY due_at`).map(
    ({ due, status }) => ({ due: Number(due), status: String(status) }),
  );
}

/** What a node said of the target, oldest first, in the database of a hub. */
export function votesOf(
  { program }: FleetHub,
  node: string,
): readonly { readonly due: number; readonly status: string }[] {
  return query(
    program.database,
    `SELECT due_at AS due, status FROM history WHERE target = 'shop' AND node = '${node}' ORDER BY due_at`,
  ).map(({ due, status }) => ({ due: Number(due), status: String(status) }));
}
