import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Outcome } from '#checks/index.ts';
import { createNetworkNamespace, namespaceObstacle, type NetworkNamespace } from './network-namespace.ts';

/**
 * A node, four routers and a host in a row, each in a namespace of its own: `10.0.1.0/24` and `fd00:1::/64` between the node and the first
 * router, `10.0.5.0/24` and `fd00:5::/64` before the host. The nearer end of a link is `.1`, the farther one `.2`. Routers do not limit
 * their ICMP errors.
 */
export interface RoutedNetwork extends AsyncDisposable {
  readonly node: NetworkNamespace;
  /** The first is `routers[0]`. */
  readonly routers: readonly NetworkNamespace[];
  readonly host: NetworkNamespace;
  /** Runs a check in the node's namespace, one after another, as another user if one is given. */
  check(spec: object, options?: CheckOptions): Promise<Outcome>;
}

export interface CheckOptions {
  /** A user without privileges. */
  readonly isUnprivileged?: boolean;
  readonly asnFile?: string;
}

const last = 5;

// IPv6 uses a link only when the kernel's link watcher has seen its carrier, which it looks for once a second; IPv4 does not wait.
const linksAreUp = `
for try in $(seq 100); do
  ip -brief link | grep -E '^(left|right)@' | grep -vq ' UP ' || exit 0
  sleep 0.05
done
ip -brief link; exit 1`;

/** Why such a network cannot be made here, or null where it can. */
export function routedNetworkObstacle(): string | null {
  const obstacle = namespaceObstacle();
  if (obstacle !== null) return obstacle;
  const found = spawnSync('iptables', ['--version'], { stdio: 'ignore' });
  return found.error === undefined ? null : 'iptables is not installed (apt-get install iptables)';
}

export function createRoutedNetwork(): RoutedNetwork {
  const places = Array.from({ length: last + 1 }, createNetworkNamespace);
  const at = (index: number) => places[index] as NetworkNamespace;
  const set = (place: NetworkNamespace, ...settings: readonly string[]) => place.run(['sysctl', '-qw', ...settings]);
  for (const place of places) {
    place.run(['ip', 'link', 'set', 'lo', 'up']);
    set(place, 'net.ipv4.icmp_ratelimit=0', 'net.ipv6.icmp.ratelimit=0', 'net.ipv4.conf.all.rp_filter=0');
    set(place, 'net.ipv4.conf.default.rp_filter=0', 'net.ipv6.conf.default.accept_dad=0');
  }
  for (let link = 1; link <= last; link += 1) {
    const [near, far] = [at(link - 1), at(link)];
    near.run(['ip', 'link', 'add', 'right', 'type', 'veth', 'peer', 'name', 'left', 'netns', far.name]);
    for (const [place, name, end] of [
      [near, 'right', 1],
      [far, 'left', 2],
    ] as const) {
      place.run(['ip', 'address', 'add', `10.0.${link}.${end}/24`, 'dev', name]);
      place.run(['ip', 'address', 'add', `fd00:${link}::${end}/64`, 'dev', name, 'nodad']);
      place.run(['ip', 'link', 'set', name, 'up']);
    }
  }
  for (const place of places) place.run(['sh', '-ec', linksAreUp]);
  for (const [index, place] of places.entries()) {
    if (index > 0 && index < last) set(place, 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
    // To the left by name, everything else to the right.
    if (index < last) route(place, `10.0.${index + 1}.2`, `fd00:${index + 1}::2`, 'default');
    if (index === last) route(place, `10.0.${index}.1`, `fd00:${index}::1`, 'default');
    if (index === last) continue;
    for (const link of Array.from({ length: Math.max(index - 1, 0) }, (_, before) => before + 1)) {
      place.run(['ip', 'route', 'add', `10.0.${link}.0/24`, 'via', `10.0.${index}.1`]);
      place.run(['ip', '-6', 'route', 'add', `fd00:${link}::/64`, 'via', `fd00:${index}::1`]);
    }
  }
  const [node, ...others] = places as [NetworkNamespace, ...NetworkNamespace[]];
  const checks = new Checks(node);
  return {
    node,
    routers: others.slice(0, last - 1),
    host: at(last),
    check: async (spec, options = {}) => checks.check(spec, options),
    async [Symbol.asyncDispose]() {
      for (const place of places) await place[Symbol.asyncDispose]();
    },
  };
}

function route(place: NetworkNamespace, via4: string, via6: string, destination: string): void {
  place.run(['ip', 'route', 'add', destination, 'via', via4]);
  place.run(['ip', '-6', 'route', 'add', destination, 'via', via6]);
}

const unprivileged = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

/** Runs checks in the node's namespace, in a process for each user that is started once: what it imports takes long. */
class Checks {
  readonly #node: NetworkNamespace;
  readonly #runs = new Map<boolean, (line: string) => Promise<string>>();

  constructor(node: NetworkNamespace) {
    this.#node = node;
  }

  async check(spec: object, { isUnprivileged = false, asnFile }: CheckOptions): Promise<Outcome> {
    const run = this.#runs.get(isUnprivileged) ?? this.#start(isUnprivileged);
    this.#runs.set(isUnprivileged, run);
    return JSON.parse(await run(JSON.stringify({ spec, asnFile }))) as Outcome;
  }

  #start(isUnprivileged: boolean): (line: string) => Promise<string> {
    const program = [process.execPath, fileURLToPath(new URL('routed-check-child.ts', import.meta.url))];
    const { stdin, stdout } = this.#node.start([...(isUnprivileged ? unprivileged : []), ...program]);
    if (stdin === null || stdout === null) throw new Error('the checks have no input or output');
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    return async (line) => {
      stdin.write(`${line}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the process that runs checks has ended');
      return value;
    };
  }
}
