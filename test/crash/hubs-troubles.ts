import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet, FleetHub, FleetNode } from '../support/fleet.ts';
import type { Machine, MachineWorld } from '../support/machines.ts';
import type { NatsServer } from '../support/nats-server.ts';
import type { MachineClock } from '../support/machine-clock.ts';

/** What can happen to one of several machines, each with a hub, a nats-server and a node. */
export const troubles = {
  /** Of a hub. */
  kill: 'SIGKILL',
  stop: 'SIGTERM',
  suspend: 'SIGSTOP',
  clock: 'the clock of a hub is seconds off for a while',
  yield: 'the leader hands over',
  'full disk': 'of a hub',
  /** Of one of the nats-servers, or more. */
  server: 'SIGKILL',
  frozen: 'SIGSTOP',
  forgotten: 'it loses its data',
  'two servers': 'the third one runs, and takes no writes',
  servers: 'all are killed',
  'full server': 'its disk is full; when there is room it is started again',
  /** Of a node. */
  node: 'SIGKILL',
  /** Of a machine, with its hub, nats-server and node. */
  machine: 'SIGKILL of all three',
  asleep: 'SIGSTOP of all three',
  cut: 'nothing passes between it and the others',
  deaf: 'it hears nothing of the others',
  mute: 'the others hear nothing of it',
  split: 'nothing passes between it and one other',
} as const;
export type Trouble = keyof typeof troubles;
export const troubleNames = Object.keys(troubles) as Trouble[];
const mostAheadMs = 2_000;

/** What fails together with its machine. */
export interface FleetPlace {
  readonly machine: Machine;
  readonly others: readonly Machine[];
  readonly hub: FleetHub;
  readonly server: NatsServer;
  readonly node: FleetNode;
}

export function placeOf(fleet: Fleet, { machines }: MachineWorld, index: number): FleetPlace {
  const [machine, hub, server, node] = [machines[index], fleet.hubs[index], fleet.servers[index], fleet.nodes[index]];
  if (machine === undefined || hub === undefined || server === undefined || node === undefined)
    throw new Error(`there is no machine ${index}`);
  return { machine, others: machines.filter((one) => one !== machine), hub, server, node };
}

interface TroubledParts extends FleetPlace {
  readonly clock: MachineClock | undefined;
  readonly fleet: Fleet;
  readonly forMs: number;
}

/** Has it happen and end. */
export async function cause(trouble: Trouble, parts: TroubledParts): Promise<void> {
  const { hub, server, node, machine, others, clock, fleet, forMs } = parts;
  const between = async (begin: () => unknown, end: () => unknown) => {
    await begin();
    await sleep(forMs);
    await end();
  };
  const send = (signal: NodeJS.Signals) => {
    hub.running?.process.kill(signal);
    server.signal(signal);
    node.signal(signal);
  };
  switch (trouble) {
    case 'kill':
    case 'stop':
      return between(
        async () => hub.running?.end(trouble === 'kill' ? 'SIGKILL' : 'SIGTERM'),
        async () => hub.start(),
      );
    case 'suspend':
      return between(
        () => hub.running?.process.kill('SIGSTOP'),
        () => hub.running?.process.kill('SIGCONT'),
      );
    case 'clock':
      return between(
        () => clock?.set(Math.round((forMs / 10_000 - 1) * mostAheadMs)),
        () => clock?.set(0),
      );
    case 'yield':
      return yieldLead(fleet);
    case 'full disk':
      return between(
        () => machine.hubDisk.fill(),
        () => machine.hubDisk.free(),
      );
    case 'server':
      return between(
        async () => server.stop(),
        async () => server.start(),
      );
    case 'frozen':
      return between(
        () => server.signal('SIGSTOP'),
        () => server.signal('SIGCONT'),
      );
    case 'forgotten':
      await server.stop();
      rmSync(join(server.folder, 'jetstream'), { recursive: true, force: true });
      return between(
        () => {},
        async () => server.start(),
      );
    case 'two servers':
    case 'servers': {
      const away = fleet.servers.filter((one) => trouble === 'servers' || one !== server);
      const each = async (act: (one: NatsServer) => Promise<void>) => Promise.all(away.map(act));
      return between(
        async () => each(async (one) => one.stop()),
        async () => each(async (one) => one.start()),
      );
    }
    case 'full server':
      return between(
        () => machine.serverDisk.fill(),
        async () => {
          machine.serverDisk.free();
          await server.stop();
          await server.start();
        },
      );
    case 'node':
      return between(
        async () => node.stop(),
        () => node.start(),
      );
    case 'machine':
      return between(
        async () => Promise.all([hub.running?.end('SIGKILL'), server.stop(), node.stop()]),
        async () => {
          await server.start();
          node.start();
          await hub.start();
        },
      );
    case 'asleep':
      return between(
        () => send('SIGSTOP'),
        () => send('SIGCONT'),
      );
    case 'cut':
    case 'deaf':
    case 'mute':
    case 'split':
      return between(
        () => machine.cut(trouble === 'split' ? others.slice(0, 1) : others, directions[trouble]),
        () => machine.mend(),
      );
  }
}

const directions = { cut: 'both', deaf: 'in', mute: 'out', split: 'both' } as const;

async function yieldLead(fleet: Fleet): Promise<void> {
  const leader = (await fleet.statuses()).find(({ role }) => role === 'leader');
  // It may be away by now, and then another one takes over anyway.
  if (leader !== undefined)
    await fleet
      .hub(leader.name)
      .yield()
      .catch(() => {});
}
