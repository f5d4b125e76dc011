import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Issued, issue, issueAuthority, issueIntermediate } from './certificates.ts';
import { createProgram, type Program } from './program.ts';
import type { RoutedNetwork } from './routed-network.ts';

/** Addresses of the host behind the routers, one for each way to fail. */
export const routedHosts = {
  /** Works all the time. */
  steady: '10.0.5.10',
  firewall: '10.0.5.11',
  dropped: '10.0.5.12',
  looped: '10.0.5.13',
  rejected: '10.0.5.14',
  hole: '10.0.5.15',
  /** The address of `www.lied.example`, and the one that the resolver answers once it lies, where nothing listens. */
  right: '10.0.5.16',
  wrong: '10.0.5.17',
  expired: '10.0.5.18',
  truncated: '10.0.5.19',
  closed: '10.0.5.20',
  slow: '10.0.5.21',
  talker: '10.0.5.22',
  resolver: '10.0.5.53',
  ns1: '10.0.5.54',
  ns2: '10.0.5.55',
  parent: '10.0.5.56',
} as const;

/** The same over IPv6, for what routers do. */
export const routedHosts6 = {
  steady: 'fd00:5::10',
  dropped: 'fd00:5::12',
  looped: 'fd00:5::13',
  rejected: 'fd00:5::14',
  hole: 'fd00:5::15',
} as const;

/** The day, from today, on which the intermediate certificate expired. */
export const routedExpiryDays = -10;

export interface RoutedCertificates {
  readonly good: Issued;
  /** Its intermediate certificate has expired. */
  readonly expired: Issued;
}

/** Servers on the host behind the routers: TCP and HTTP on port 8080, HTTPS on 8443, DNS on 53. */
export interface RoutedServices {
  /** The authority of the certificates. */
  readonly ca: string;
  /** From now on each server fails in its way. */
  break(): Promise<void>;
}

export async function startRoutedServices({ host }: Pick<RoutedNetwork, 'host'>): Promise<RoutedServices> {
  for (const address of Object.values(routedHosts)) host.run(['ip', 'address', 'add', `${address}/32`, 'dev', 'left']);
  for (const address of Object.values(routedHosts6))
    host.run(['ip', '-6', 'address', 'add', `${address}/128`, 'dev', 'left', 'nodad']);
  const ca = await issueAuthority();
  const certificates: RoutedCertificates = {
    good: await chain(ca, [-1, 30]),
    expired: await chain(ca, [-30, routedExpiryDays]),
  };
  const child = host.start([process.execPath, fileURLToPath(new URL('routed-services-child.ts', import.meta.url))]);
  if (child.stdout === null) throw new Error('the services have no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const say = async (line: string, answer: string) => {
    child.stdin?.write(`${line}\n`);
    const { value } = await lines.next();
    if (value !== answer) throw new Error(`the services did not answer ${answer} but ${String(value)}`);
  };
  await say(JSON.stringify(certificates), 'ready');
  return { ca: ca.cert, break: async () => say('break', 'broken') };
}

async function chain(ca: Issued, days: readonly [number, number]): Promise<Issued> {
  const intermediate = await issueIntermediate(ca, days);
  const leaf = await issue({ ips: [routedHosts.expired], ca: intermediate });
  return { cert: `${leaf.cert}\n${intermediate.cert}`, key: leaf.key };
}

// `ip netns exec` gives it mounts of its own.
const asking =
  'f=$(mktemp) && echo "nameserver $0" > "$f" && mount --bind "$f" /etc/resolv.conf && rm "$f" && exec "$@"';

/** The daemon in the node's namespace; its resolver is that of the services. */
export async function programBehindRouters({ node }: Pick<RoutedNetwork, 'node'>): Promise<Program> {
  return createProgram({ prefix: ['ip', 'netns', 'exec', node.name, 'sh', '-ec', asking, routedHosts.resolver] });
}
