import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Detail as MtrDetail } from '#checks/mtr/detail.ts';
import type { PathTrace } from '#checks/path/trace.ts';
import { dayMs } from '#kernel/units.ts';
import { mailsIn } from '../support/mail-files.ts';
import type { NetworkNamespace } from '../support/network-namespace.ts';
import { eventually, type Program, query } from '../support/program.ts';
import { createRoutedNetwork, routedNetworkObstacle, type RoutedNetwork } from '../support/routed-network.ts';
import {
  programBehindRouters,
  routedHosts as hosts,
  routedHosts6 as hosts6,
  routedExpiryDays,
  startRoutedServices,
} from '../support/routed-services.ts';

const execute = promisify(execFile);
const obstacle = routedNetworkObstacle();

test('a network with routers can be made', (context) => {
  if (obstacle !== null && !process.env.CI) context.skip(obstacle);
  expect(obstacle).toBeNull();
});

/** Each target has a recipient of its own, who gets its mail when what is gathered about a few targets is there. */
function configOf(targets: Readonly<Record<string, string>>): string {
  const lines = Object.entries(targets).map(
    ([name, keys]) => `  ${name}: { ${keys}, timeout: 900ms, notify: [${name}] }`,
  );
  const recipients = Object.keys(targets).map(
    (name) => `  ${name}: { email: { to: [${name}@example.com] }, group_wait: 16s }`,
  );
  return `
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: {} }
defaults: { every: 2s }
targets:
${lines.join('\n')}
notify:
${recipients.join('\n')}
`;
}

async function mailOf({ folder }: Program, target: string): Promise<string> {
  const mails = await mailsIn(folder);
  const found = mails.find(({ to }) => to?.some(({ address }) => address === `${target}@example.com`));
  if (found === undefined) throw new Error(`no mail about ${target}`);
  return found.text ?? '';
}

function expiryOf(days: number): string {
  return new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
}

const router3 = '10.0.3.2 (hop 3)';

/** Targets that work first, and what the mail says once they do not. */
const stories: Readonly<Record<string, readonly [keys: string, lines: readonly string[]]>> = {
  firewall: [
    `check: tcp, host: "${hosts.firewall}:8080"`,
    [`Packets from de1 end after ${router3}; the last good path reached the target.`],
  ],
  dropped: [
    `check: tcp, host: "${hosts.dropped}:8080"`,
    [`Packets from de1 end after ${router3}; the last good path reached the target.`],
  ],
  looped: [`check: tcp, host: "${hosts.looped}:8080"`, ['Packets from de1 loop between 10.0.2.2 and 10.0.3.2.']],
  rejected: [
    `check: tcp, host: "${hosts.rejected}:8080"`,
    [`The router ${router3} rejects packets from de1: they are prohibited.`],
  ],
  hole: [
    `check: http, host: "http://${hosts.hole}:8080/"`,
    [
      `Small packets from de1 reach the target, packets of 1500 bytes vanish after ${router3} without a message (MTU black hole).`,
    ],
  ],
  lied: [
    'check: tcp, host: "www.lied.example:8080"',
    [
      `The resolver of de1 (${hosts.resolver}) answers ${hosts.wrong} for www.lied.example, the authoritative servers ${hosts.right}.`,
      `Packets from de1 reach ${hosts.wrong}, which refuses TCP port 8080.`,
    ],
  ],
  lame: [
    'check: tcp, host: "www.lame.example:8080"',
    ['The name server ns1.lame.example is listed for lame.example and does not answer with authority (REFUSED).'],
  ],
  expired: [
    `check: http, host: "https://${hosts.expired}:8443/", tls: { ca: AUTHORITY }`,
    [`The intermediate certificate "Test intermediate" expired on ${expiryOf(routedExpiryDays)}.`],
  ],
  truncated: [`check: http, host: "http://${hosts.truncated}:8080/"`, ['The response ends after 512 of 2048 bytes.']],
  talker: [
    `check: tcp, host: "${hosts.talker}:8080", expect: "220 mail ready"`,
    ['The server sends 8 bytes and then nothing more.'],
  ],
  closed: [
    `check: tcp, host: "${hosts.closed}:8080"`,
    [`Packets from de1 reach ${hosts.closed}, which refuses TCP port 8080.`],
  ],
  slow: [
    `check: http, host: "http://${hosts.slow}:8080/"`,
    [`Packets from de1 reach ${hosts.slow} now, as on the last good path, and TCP port 8080 accepts connections.`],
  ],
};

/** The targets of one daemon: a node gathers about one after another, so that many daemons beside each other take less time. */
const perProgram = 5;

const router3v6 = 'fd00:3::2 (hop 3)';

/** The same over IPv6. */
const stories6: typeof stories = {
  dropped6: [
    `check: tcp, host: "[${hosts6.dropped}]:8080"`,
    [`Packets from de1 end after ${router3v6}; the last good path reached the target.`],
  ],
  looped6: [`check: tcp, host: "[${hosts6.looped}]:8080"`, ['Packets from de1 loop between fd00:3::2 and fd00:3::1.']],
  rejected6: [
    `check: tcp, host: "[${hosts6.rejected}]:8080"`,
    [`The router ${router3v6} rejects packets from de1: they are prohibited.`],
  ],
  hole6: [
    `check: http, host: "http://[${hosts6.hole}]:8080/"`,
    [
      `Small packets from de1 reach the target, packets of 1500 bytes vanish after ${router3v6} without a message (MTU black hole).`,
    ],
  ],
};

interface StoryWorld {
  readonly network: RoutedNetwork;
  readonly keys: Readonly<Record<string, string>>;
  /** Changes what routers do, once all targets have worked for a while. */
  readonly change: (router3: NetworkNamespace) => void;
}

/** The conclusions in the mail about each target that fails. */
async function mailsOf({ network, keys, change }: StoryWorld): Promise<Readonly<Record<string, readonly string[]>>> {
  const services = await startRoutedServices(network);
  await using stack = new AsyncDisposableStack();
  const steady = `check: tcp, host: "${hosts.steady}:8080"`;
  const names = Object.keys(keys);
  const count = Math.ceil(names.length / perProgram);
  const programs = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const program = stack.use(await programBehindRouters(network));
      const own = names.filter((_name, at) => at % count === index);
      const targets = Object.fromEntries(
        [...own.map((name) => [name, keys[name] ?? ''] as const), ['steady', steady] as const].map(([name, text]) => [
          name,
          text.replace('AUTHORITY', JSON.stringify(services.ca)),
        ]),
      );
      await program.start(configOf(targets));
      await eventually(120_000, () => {
        const [row] = query(program.database, 'SELECT count(*) AS count FROM good_evidence');
        expect(row).toEqual({ count: Object.keys(targets).length });
      });
      return { program, own };
    }),
  );
  const [, , router] = network.routers;
  if (router === undefined) throw new Error('there is no third router');
  change(router);
  await services.break();
  const found: Record<string, readonly string[]> = {};
  for (const { program, own } of programs) {
    for (const name of own) {
      found[name] = await eventually(100_000, async () => linesOf(await mailOf(program, name)));
    }
  }
  return found;
}

/** What a mail says between its first line and the table, but that it is late. */
function linesOf(mail: string): readonly string[] {
  const [, ...lines] = (mail.split('\n\n')[0] ?? '').split('\n');
  return lines.filter((line) => !line.startsWith('This notification is late'));
}

function change6(router: NetworkNamespace): void {
  const rule = (...words: readonly string[]) => router.run(['ip6tables', '-A', 'FORWARD', ...words]);
  rule('-d', hosts6.dropped, '-j', 'DROP');
  rule('-d', hosts6.rejected, '-j', 'REJECT', '--reject-with', 'icmp6-adm-prohibited');
  for (const side of ['-d', '-s']) rule(side, hosts6.hole, '-m', 'length', '--length', '1261:65535', '-j', 'DROP');
  router.run(['ip', '-6', 'route', 'add', `${hosts6.looped}/128`, 'via', 'fd00:3::1']);
}

const hopsOf = ({ hops }: PathTrace) => hops.map(({ probes }) => probes.find(({ address }) => address)?.address ?? '*');

/** The programs of Debian go on for as long as they may; a path of ours ends where it is known to. */
async function compareWithPrograms(network: RoutedNetwork): Promise<void> {
  const { node } = network;
  const inNode = async (...command: readonly string[]) =>
    (await execute('ip', ['netns', 'exec', node.name, ...command])).stdout;
  for (const host of Object.values(hosts6)) {
    const limits = ['-n', '-m', '8'];
    const [printed, report] = await Promise.all([
      inNode('traceroute', '-6', ...limits, '-q', '1', '-w', '1', '-T', '-p', '8080', host),
      inNode('mtr', '-6', ...limits, '--gracetime', '1', '--json', '-c', '2', '-i', '0.2', host),
    ]);
    const theirs = printed
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/)[1] ?? '');
    const spec = { host, max_hops: 8, timeout: '600ms' };
    const trace = await network.check({ ...spec, type: 'traceroute', protocol: 'tcp', port: 8_080 });
    const found = hopsOf(trace.detail as PathTrace);
    expect([host, found]).toEqual([host, theirs.slice(0, found.length)]);
    expect(theirs.slice(found.length).every((hop) => hop === '*' || found.includes(hop))).toBe(true);

    const { hubs } = (JSON.parse(report) as { report: { hubs: { host: string; 'Loss%': number }[] } }).report;
    const measured = (await network.check({ ...spec, type: 'mtr', packets: 2, interval: '200ms' })).detail as MtrDetail;
    const hosts = hubs.map((hub) => (hub.host === '???' ? '*' : hub.host));
    const ours = hopsOf(measured.path);
    expect([host, ours]).toEqual([host, hosts.slice(0, ours.length)]);
    expect(measured.figures.map(({ loss }) => loss)).toEqual(
      hubs.slice(0, ours.length).map((hub) => hub['Loss%'] / 100),
    );
  }
}

const drop = (router: NetworkNamespace, ...addresses: readonly string[]) => {
  for (const address of addresses) router.run(['iptables', '-A', 'FORWARD', '-d', address, '-j', 'DROP']);
};

// Each in a network of its own: for most of the time they wait.
test.skipIf(obstacle !== null).concurrent(
  'the mail says where and why a target fails',
  async () => {
    await using network = createRoutedNetwork();
    const all = { ...stories, ...stories6 };
    const keys = Object.fromEntries(Object.entries(all).map(([name, [text]]) => [name, text]));
    const mails = await mailsOf({
      network,
      keys,
      change(router) {
        const rule = (...words: readonly string[]) => router.run(['iptables', '-A', 'FORWARD', ...words]);
        rule('-p', 'tcp', '-d', hosts.firewall, '--dport', '8080', '-j', 'DROP');
        drop(router, hosts.dropped);
        rule('-d', hosts.rejected, '-j', 'REJECT', '--reject-with', 'icmp-admin-prohibited');
        for (const side of ['-d', '-s']) rule(side, hosts.hole, '-m', 'length', '--length', '1301:65535', '-j', 'DROP');
        router.run(['ip', 'route', 'add', `${hosts.looped}/32`, 'via', '10.0.3.1']);
        change6(router);
      },
    });
    expect(mails).toEqual(Object.fromEntries(Object.entries(all).map(([name, [, lines]]) => [name, lines])));
    await compareWithPrograms(network);
  },
  300_000,
);

test.skipIf(obstacle !== null).concurrent(
  'nothing false is said where replies come back another way and routers limit their ICMP errors',
  async () => {
    await using network = createRoutedNetwork();
    const [first, , , fourth] = network.routers;
    if (first === undefined || fourth === undefined) throw new Error('there are no routers');
    fourth.run(['ip', 'link', 'add', 'back', 'type', 'veth', 'peer', 'name', 'back', 'netns', first.name]);
    first.run(['sh', '-ec', 'ip address add 10.0.9.1/24 dev back; ip link set back up']);
    fourth.run([
      'sh',
      '-ec',
      'ip address add 10.0.9.2/24 dev back; ip link set back up; ip route replace 10.0.1.0/24 via 10.0.9.1',
    ]);
    for (const router of network.routers) router.run(['sysctl', '-qw', 'net.ipv4.icmp_ratelimit=1000']);
    const dropped = ['firewall', 'dropped', 'looped', 'rejected', 'hole', 'truncated', 'talker', 'right'] as const;
    const keys = Object.fromEntries(dropped.map((name) => [name, `check: tcp, host: "${hosts[name]}:8080"`]));
    const mails = await mailsOf({
      network,
      keys: { ...keys, closed: stories['closed']?.[0] ?? '', slow: stories['slow']?.[0] ?? '' },
      change: (router) => drop(router, ...dropped.map((name) => hosts[name])),
    });
    // Packets get that far; routers behind it may not answer every time.
    const passed = /^Packets from de1 end after 10\.0\.(\d)\.2 \(hop \1\); the last good path reached the target\.$/;
    for (const name of dropped) {
      for (const line of mails[name] ?? [])
        expect([line, passed.exec(line)?.[1]]).toEqual([line, expect.stringMatching(/^[123]$/)]);
    }
    expect(mails).toMatchObject({ closed: stories['closed']?.[1], slow: stories['slow']?.[1] });
  },
  300_000,
);

test.skipIf(obstacle !== null).concurrent(
  'a node that reaches neither its resolver nor what it reached before is cut off itself',
  async () => {
    await using network = createRoutedNetwork();
    await startRoutedServices(network);
    for (const address of ['10.0.1.8', '10.0.1.9'])
      network.node.run(['ip', 'address', 'add', `${address}/24`, 'dev', 'right']);
    await using program = await programBehindRouters(network);
    await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: { local_address: 10.0.1.1 }, us1: { local_address: 10.0.1.8 }, fr1: { local_address: 10.0.1.9 } }
targets:
  shop: { check: tcp, timeout: 900ms, host: "${hosts.dropped}:8080", every: 2s }
  mail: { check: tcp, timeout: 900ms, host: "${hosts.firewall}:8080", every: 60s }
  wiki: { check: tcp, timeout: 900ms, host: "${hosts.looped}:8080", every: 60s }
rules: { down: { failing: any, rounds: 1 } }
notify: { shop: { email: { to: [shop@example.com] }, group_wait: 14s } }
`);
    await eventually(100_000, () => {
      const [row] = query(
        program.database,
        "SELECT count(*) AS count FROM history WHERE status = 'up' AND target <> 'shop'",
      );
      expect(Number(row?.['count'])).toBeGreaterThanOrEqual(6);
    });
    network.routers[0]?.run(['iptables', '-A', 'FORWARD', '-s', '10.0.1.1', '-j', 'DROP']);
    const lines = await eventually(100_000, async () => linesOf(await mailOf(program, 'shop')));
    // Another target may fail meanwhile; then they share the mail. The node is suspected then, and the incidents are over.
    const said = lines.filter((line) => line !== 'It was over before this mail was sent.');
    expect(said).not.toEqual([]);
    for (const line of said) {
      expect(line).toMatch(/(?:^|: )The uplink of de1 is down: neither the resolver nor \w+ and \w+ can be reached\.$/);
    }
  },
  300_000,
);
