import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { dayMs } from '#kernel/units.ts';
import type { NetworkNamespace } from '../support/network-namespace.ts';
import { eventually, type Program, query } from '../support/program.ts';
import { createRoutedNetwork, routedNetworkObstacle, type RoutedNetwork } from '../support/routed-network.ts';
import {
  programBehindRouters,
  routedHosts as hosts,
  routedExpiryDays,
  startRoutedServices,
} from '../support/routed-services.ts';

const obstacle = routedNetworkObstacle();

test('a network with routers can be made', (context) => {
  if (obstacle !== null && !process.env.CI) context.skip(obstacle);
  expect(obstacle).toBeNull();
});

/** Each target has a recipient of its own, who gets its mail at the default time. */
function configOf(targets: Readonly<Record<string, string>>): string {
  const lines = Object.entries(targets).map(
    ([name, keys]) => `  ${name}: { ${keys}, timeout: 900ms, notify: [${name}] }`,
  );
  const recipients = Object.keys(targets).map((name) => `  ${name}: { email: { to: [${name}@example.com] } }`);
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
  const mails = join(folder, 'mail');
  for (const name of readdirSync(mails)) {
    const { text, to } = await PostalMime.parse(readFileSync(join(mails, name)));
    if (to?.some(({ address }) => address === `${target}@example.com`) === true) return text ?? '';
  }
  throw new Error(`no mail about ${target}`);
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

interface StoryWorld {
  readonly network: RoutedNetwork;
  readonly keys: Readonly<Record<string, string>>;
  /** Changes what routers do, once all targets have worked for a while. */
  readonly change: (router3: NetworkNamespace) => void;
}

/** The conclusions in the mail about each target that fails. */
async function mailsOf({ network, keys, change }: StoryWorld): Promise<Readonly<Record<string, readonly string[]>>> {
  const services = await startRoutedServices(network);
  await using program = await programBehindRouters(network);
  const steady = `check: tcp, host: "${hosts.steady}:8080"`;
  const targets = Object.fromEntries(
    Object.entries({ ...keys, steady }).map(([name, text]) => [
      name,
      text.replace('AUTHORITY', JSON.stringify(services.ca)),
    ]),
  );
  await program.start(configOf(targets));
  await eventually(120_000, () => {
    const [row] = query(program.database, 'SELECT count(*) AS count FROM good_evidence');
    expect(row).toEqual({ count: Object.keys(targets).length });
  });
  const [, , router] = network.routers;
  if (router === undefined) throw new Error('there is no third router');
  change(router);
  await services.break();
  const found: Record<string, readonly string[]> = {};
  for (const name of Object.keys(keys)) {
    found[name] = await eventually(100_000, async () => linesOf(await mailOf(program, name)));
  }
  return found;
}

/** What a mail says between its first line and the table, but that it is late. */
function linesOf(mail: string): readonly string[] {
  const [, ...lines] = (mail.split('\n\n')[0] ?? '').split('\n');
  return lines.filter((line) => !line.startsWith('This notification is late'));
}

const drop = (router: NetworkNamespace, ...addresses: readonly string[]) => {
  for (const address of addresses) router.run(['iptables', '-A', 'FORWARD', '-d', address, '-j', 'DROP']);
};

test.skipIf(obstacle !== null)(
  'the mail says where and why a target fails',
  async () => {
    await using network = createRoutedNetwork();
    const keys = Object.fromEntries(Object.entries(stories).map(([name, [text]]) => [name, text]));
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
      },
    });
    expect(mails).toEqual(Object.fromEntries(Object.entries(stories).map(([name, [, lines]]) => [name, lines])));
  },
  300_000,
);

test.skipIf(obstacle !== null)(
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

test.skipIf(obstacle !== null)(
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
