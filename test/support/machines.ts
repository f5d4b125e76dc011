import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createNetworkNamespace, type NetworkNamespace, namespaceObstacle } from './network-namespace.ts';
import { fillerIn } from './small-disk.ts';

/**
 * A computer of its own as far as network and disks go: a namespace with one link to a bridge that all machines and this process share,
 * and a disk for each of its programs.
 */
export interface Machine {
  readonly address: string;
  /** The words before a command that runs on it. */
  readonly prefix: readonly string[];
  readonly hubDisk: MachineDisk;
  readonly serverDisk: MachineDisk;
  /** Nothing passes between it and the others from now on, or only in one direction. This process reaches it all the same. */
  cut(others: readonly Machine[], which: 'both' | 'in' | 'out'): void;
  /** Everything passes again. */
  mend(): void;
}

export interface MachineDisk {
  readonly folder: string;
  /** Leaves no room on it. */
  fill(): void;
  /** Makes room again. */
  free(): void;
}

export interface MachineWorld extends AsyncDisposable {
  /** Where machines reach servers of this process. */
  readonly address: string;
  /** For what is on no small disk. */
  readonly folder: string;
  readonly machines: readonly Machine[];
}

/** The words that give a command a network and mounts of its own, as `createMachines` needs them. */
export const worldWords = ['unshare', '--net', '--mount', '--propagation', 'private'] as const;

/** Why machines cannot be made here, or null where they can. */
export function machinesObstacle(): string | null {
  const obstacle = namespaceObstacle();
  if (obstacle !== null) return obstacle;
  try {
    execFileSync(worldWords[0], [...worldWords.slice(1), 'iptables', '--list'], { stdio: 'ignore' });
    return null;
  } catch {
    return `this takes "${worldWords.join(' ')} iptables --list" to succeed`;
  }
}

/** Call it in a process that `worldWords` started: it sets up the network and mounts disks in `folder`. */
export function createMachines(count: number, folder: string, diskSize: string): MachineWorld {
  mkdirSync('/run/netns', { recursive: true });
  // Names of namespaces are files; these go with the process.
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/run/netns']);
  const ip = (...words: readonly string[]) => void execFileSync('ip', words);
  ip('link', 'set', 'lo', 'up');
  ip('link', 'add', 'bridge', 'type', 'bridge');
  ip('address', 'add', '10.77.0.1/24', 'dev', 'bridge');
  ip('link', 'set', 'bridge', 'up');
  const places = Array.from({ length: count }, createNetworkNamespace);
  const machines = places.map((place, index) => {
    const address = `10.77.0.${11 + index}`;
    place.run(['ip', 'link', 'set', 'lo', 'up']);
    ip('link', 'add', `port${index}`, 'type', 'veth', 'peer', 'name', 'uplink', 'netns', place.name);
    ip('link', 'set', `port${index}`, 'master', 'bridge', 'up');
    place.run(['ip', 'address', 'add', `${address}/24`, 'dev', 'uplink']);
    place.run(['ip', 'link', 'set', 'uplink', 'up']);
    return createMachine(place, address, (part) => mountDisk(join(folder, `${part}${index}`), diskSize));
  });
  return {
    address: '10.77.0.1',
    folder,
    machines,
    async [Symbol.asyncDispose]() {
      for (const place of places) await place[Symbol.asyncDispose]();
      for (const { hubDisk, serverDisk } of machines)
        for (const disk of [hubDisk, serverDisk]) execFileSync('umount', ['--lazy', disk.folder]);
    },
  };
}

function createMachine(place: NetworkNamespace, address: string, mount: (part: string) => MachineDisk): Machine {
  const filter = (...words: readonly string[]) => void place.run(['iptables', '--wait', ...words]);
  return {
    address,
    prefix: ['ip', 'netns', 'exec', place.name],
    hubDisk: mount('hub'),
    serverDisk: mount('server'),
    cut(others, which) {
      for (const other of others) {
        if (which !== 'out') filter('--append', 'INPUT', '--source', other.address, '--jump', 'DROP');
        if (which !== 'in') filter('--append', 'OUTPUT', '--destination', other.address, '--jump', 'DROP');
      }
    },
    mend: () => filter('--flush'),
  };
}

function mountDisk(folder: string, size: string): MachineDisk {
  mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  return { folder, ...fillerIn(folder) };
}
