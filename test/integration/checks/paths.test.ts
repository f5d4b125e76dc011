import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Outcome } from '#checks/index.ts';
import type { Detail as MtrDetail } from '#checks/mtr/detail.ts';
import type { PathTrace } from '#checks/path/trace.ts';
import { createRoutedNetwork, routedNetworkObstacle, type RoutedNetwork } from '../../support/routed-network.ts';
import { needsProgram } from '../../support/programs.ts';

const obstacle = routedNetworkObstacle();

test('a network with routers can be made', (context) => {
  if (obstacle !== null && !process.env.CI) context.skip(obstacle);
  expect(obstacle).toBeNull();
});

const way = {
  4: ['10.0.1.2', '10.0.2.2', '10.0.3.2', '10.0.4.2', '10.0.5.2'],
  6: ['fd00:1::2', 'fd00:2::2', 'fd00:3::2', 'fd00:4::2', 'fd00:5::2'],
} as const;
const host = { 4: '10.0.5.2', 6: 'fd00:5::2' } as const;
const families = [4, 6] as const;
const protocols = ['icmp', 'udp', 'tcp'] as const;
const combinations = families.flatMap((family) => protocols.map((protocol) => ({ family, protocol })));

function traceOf(outcome: Outcome): PathTrace {
  if (outcome.detail === null) throw new Error(`no path: ${JSON.stringify(outcome)}`);
  return outcome.detail as PathTrace;
}

/** A folder that is gone after the test. */
function networksFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-asn-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The addresses of each hop; `*` for none. */
function hopsOf({ hops }: PathTrace): string[] {
  return hops.map(({ probes }) => [...new Set(probes.map(({ address }) => address ?? '*'))].join(' '));
}

describe.skipIf(obstacle !== null)('paths', () => {
  let network: RoutedNetwork;

  beforeAll(() => {
    network = createRoutedNetwork();
  });

  afterAll(async () => {
    await network[Symbol.asyncDispose]();
  });

  /** Runs commands at one of the network's places, and the second ones when the scene is over. */
  function scene(place: 'routers 1' | 'routers 2' | 'routers 3' | 'routers 4' | 'host', begin: string, end: string) {
    const namespace = place === 'host' ? network.host : network.routers[Number(place.at(-1)) - 1]!;
    namespace.run(['sh', '-ec', begin]);
    return { [Symbol.dispose]: () => void namespace.run(['sh', '-ec', end]) };
  }

  const trace = async (spec: object) =>
    network.check({ type: 'traceroute', timeout: '600ms', protocol: 'icmp', host: host[4], ...spec });

  test.each(combinations)(
    'all routers and the host are found over $protocol and IPv$family',
    async ({ family, protocol }) => {
      const outcome = await trace({ host: host[family], protocol });
      expect(outcome).toMatchObject({ status: 'up', address: host[family], facts: { hops: 5 } });
      const found = traceOf(outcome);
      expect(hopsOf(found)).toEqual(way[family]);
      expect(found).toMatchObject({ end: 'reached', protocol, mtu: 1500, large: { result: 'passed' } });
      const kind = { icmp: 'reply', udp: 'port_unreachable', tcp: 'refused' }[protocol];
      expect(found.hops.map(({ probes }) => probes.map((probe) => probe.kind))).toEqual([
        ...Array.from({ length: 4 }, () => ['time_exceeded', 'time_exceeded', 'time_exceeded']),
        [kind, kind, kind],
      ]);
      expect(found.hops.flatMap(({ probes }) => probes).every(({ seconds }) => seconds !== null && seconds > 0)).toBe(
        true,
      );
    },
  );

  test('a port that is open is reached', async () => {
    const server = network.host.start(['python3', '-c', listening]);
    await new Promise((resolve) => server.stdout?.once('data', resolve));
    const outcome = await trace({ protocol: 'tcp', port: 8080 });
    expect(
      traceOf(outcome)
        .hops.at(-1)
        ?.probes.map(({ kind }) => kind),
    ).toEqual(['connected', 'connected', 'connected']);
    const udp = await trace({ protocol: 'udp', port: 8081 });
    expect(udp.status).toBe('up');
    expect(hopsOf(traceOf(udp))).toEqual(way[4]);
  });

  test.each(['udp', 'tcp'])('%s takes no privileges', async (protocol) => {
    network.node.run(['sysctl', '-qw', 'net.ipv4.ping_group_range=1 0']);
    const outcome = await network.check({ type: 'traceroute', host: host[4], protocol }, { isUnprivileged: true });
    expect(hopsOf(traceOf(outcome))).toEqual(way[4]);
  });

  test('ICMP takes the permission of ping, and the reason names the remedy', async () => {
    const spec = { type: 'traceroute', host: host[4], protocol: 'icmp' };
    network.node.run(['sysctl', '-qw', 'net.ipv4.ping_group_range=1 0']);
    const refused = await network.check(spec, { isUnprivileged: true });
    expect(refused).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'unsupported' } });
    expect(JSON.stringify(refused)).toContain('ping_group_range');
    network.node.run(['sysctl', '-qw', 'net.ipv4.ping_group_range=0 2147483647']);
    expect(hopsOf(traceOf(await network.check(spec, { isUnprivileged: true })))).toEqual(way[4]);
  });

  test.each(combinations)(
    'a firewall that drops is silence after its hop: $protocol, IPv$family',
    async ({ family, protocol }) => {
      const tables = family === 4 ? 'iptables' : 'ip6tables';
      using _ = scene('routers 3', `${tables} -A FORWARD -d ${host[family]} -j DROP`, `${tables} -F`);
      const outcome = await trace({ host: host[family], protocol });
      expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'timeout' } });
      expect(JSON.stringify(outcome)).toContain(`no answer after hop 3 (${way[family][2]})`);
      expect(traceOf(outcome)).toMatchObject({ end: 'silent' });
      expect(hopsOf(traceOf(outcome))).toEqual([...way[family].slice(0, 3), '*']);
    },
  );

  test.each(combinations)('a firewall that rejects is named: $protocol, IPv$family', async ({ family, protocol }) => {
    const [tables, how] = family === 4 ? ['iptables', 'icmp-admin-prohibited'] : ['ip6tables', 'icmp6-adm-prohibited'];
    const rule = `${tables} -A FORWARD -d ${host[family]} -j REJECT --reject-with ${how}`;
    using _ = scene('routers 3', rule, `${tables} -F`);
    const outcome = await trace({ host: host[family], protocol });
    expect(outcome).toMatchObject({
      status: 'down',
      failure: { code: 'unreachable', message: `administratively prohibited, says ${way[family][2]} (hop 4)` },
    });
    expect(traceOf(outcome).end).toBe('rejected');
    expect(hopsOf(traceOf(outcome))).toEqual([...way[family].slice(0, 3), way[family][2]]);
  });

  test('a router that rejects with "port unreachable" is not the host', async () => {
    using _ = scene('routers 2', `iptables -A FORWARD -d ${host[4]} -j REJECT`, 'iptables -F');
    const outcome = await trace({ protocol: 'udp' });
    expect(outcome).toMatchObject({ status: 'down', failure: { code: 'unreachable' } });
    expect(traceOf(outcome).end).toBe('rejected');
  });

  test.each(protocols)('a router whose neighbour does not answer is named: %s', async (protocol) => {
    const retrans = '/proc/sys/net/ipv4/neigh/right/retrans_time_ms';
    using _ = scene('routers 4', `echo 50 > ${retrans}`, `echo 1000 > ${retrans}`);
    const outcome = await trace({ protocol, host: '10.0.5.99' });
    expect(outcome).toMatchObject({ failure: { code: 'unreachable', message: 'unreachable, says 10.0.4.2 (hop 5)' } });
    expect(hopsOf(traceOf(outcome)).slice(0, 4)).toEqual(way[4].slice(0, 4));
  });

  test.each(families)('a loop is found over IPv%i', async (family) => {
    const [ip, back] = family === 4 ? ['ip', '10.0.3.1'] : ['ip -6', 'fd00:3::1'];
    using _ = scene(
      'routers 3',
      `${ip} route add ${host[family]} via ${back}`,
      `${ip} route del ${host[family]} via ${back}`,
    );
    const outcome = await trace({ host: host[family], protocol: 'udp' });
    const [first, second, third] = way[family];
    expect(outcome).toMatchObject({ status: 'down', failure: { code: 'unreachable' } });
    expect(traceOf(outcome).end).toBe('loop');
    // A router takes the address nearest to where the packet came from over IPv4, and that of the way back over IPv6.
    const circle = family === 4 ? [second] : ['fd00:3::1', third];
    expect(hopsOf(traceOf(outcome))).toEqual([first, second, third, ...circle]);
  });

  test('too few hops are said to be', async () => {
    const outcome = await trace({ max_hops: 3 });
    expect(outcome).toMatchObject({ status: 'down', failure: { code: 'timeout' } });
    expect(traceOf(outcome).end).toBe('limit');
    expect(hopsOf(traceOf(outcome))).toEqual(way[4].slice(0, 3));
  });

  test('a silent router in between stays a gap', async () => {
    using _ = scene('routers 2', 'iptables -A OUTPUT -p icmp -j DROP', 'iptables -F');
    const outcome = await trace({ protocol: 'udp' });
    expect(outcome.status).toBe('up');
    expect(hopsOf(traceOf(outcome))).toEqual(['10.0.1.2', '*', '10.0.3.2', '10.0.4.2', '10.0.5.2']);
  });

  test('answers that come back another way are those of the way there', async () => {
    network.routers[3]!.run([
      'ip',
      'link',
      'add',
      'across',
      'type',
      'veth',
      'peer',
      'name',
      'across',
      'netns',
      network.routers[0]!.name,
    ]);
    using _ = scene('routers 1', 'ip address add 10.0.6.1/24 dev across; ip link set across up', 'ip link del across');
    network.routers[3]!.run(['sh', '-ec', 'ip address add 10.0.6.2/24 dev across; ip link set across up']);
    network.routers[3]!.run(['ip', 'route', 'replace', '10.0.1.0/24', 'via', '10.0.6.1']);
    const outcome = await trace({ protocol: 'udp' });
    network.routers[3]!.run(['ip', 'route', 'replace', '10.0.1.0/24', 'via', '10.0.4.1']);
    expect(outcome.status).toBe('up');
    const found = hopsOf(traceOf(outcome));
    expect([...found.slice(0, 3), ...found.slice(4)]).toEqual([...way[4].slice(0, 3), host[4]]);
    // The router takes its address on the way back.
    expect(found[3]).toMatch(/^10\.0\.[46]\.2$/);
  });

  const ignoring = `
    const socket = require('node:dgram').createSocket('udp4');
    socket.on('message', (bytes) => console.log(bytes.includes('example') ? 'asked' : 'received'));
    socket.bind(5353, '0.0.0.0', () => console.log('ready'));
  `;

  test.each([
    ['', way[4].slice(0, 4)],
    [' behind three silent routers', ['10.0.1.2', '*']],
  ])('evidence about a DNS server that does not answer sends at most three datagrams to it%s', async (where, hops) => {
    const server = network.host.start([process.execPath, '--eval', ignoring]);
    let printed = '';
    await new Promise<void>((resolve) =>
      server.stdout?.on('data', (bytes: Buffer) => {
        printed += String(bytes);
        resolve();
      }),
    );
    const silence = where === '' ? 'true' : 'iptables -A OUTPUT -p icmp --icmp-type time-exceeded -j DROP';
    using _two = scene('routers 2', silence, 'iptables -F');
    using _three = scene('routers 3', silence, 'iptables -F');
    using _four = scene('routers 4', silence, 'iptables -F');
    const of = { type: 'dns', host: 'example.com', resolver: `${host[4]}:5353` };
    const { detail } = await network.check({ type: 'evidence', host: of.host, of, failure: 'timeout' });
    server.kill('SIGKILL');
    const { path } = detail as { readonly path: PathTrace };
    expect(path).toMatchObject({ protocol: 'udp', port: 5353, end: 'silent' });
    expect(hopsOf(path).slice(0, 4)).toEqual(hops);
    const count = printed.split('received').length - 1;
    expect(count).toBeGreaterThanOrEqual(1);
    expect(count).toBeLessThanOrEqual(3);
    // One question, and its repeat.
    expect(printed.split('asked')).toHaveLength(3);
  });

  const narrow = 'ip link set right mtu 1400';
  const wide = 'ip link set right mtu 1500';

  test.each(families)('the size that the path takes is found over IPv%i', async (family) => {
    using _ = scene('routers 3', narrow, wide);
    const outcome = await trace({ host: host[family], protocol: 'udp' });
    expect(traceOf(outcome)).toMatchObject({ end: 'reached', mtu: 1400, large: { result: 'too_big' } });
  });

  test('a router that drops large packets and does not say so is found', async () => {
    const silence = 'iptables -A OUTPUT -p icmp --icmp-type fragmentation-needed -j DROP';
    using _ = scene('routers 3', `${narrow}; ${silence}`, `${wide}; iptables -F`);
    const outcome = await trace({ protocol: 'tcp' });
    expect(traceOf(outcome)).toMatchObject({ end: 'reached', mtu: null, large: { result: 'lost', last_hop: 3 } });
  });

  test('of loss that is only there nothing is said of the size', async () => {
    using _ = scene('host', 'iptables -A INPUT -p icmp -j DROP', 'iptables -F');
    const found = traceOf(await trace({ protocol: 'udp' }));
    expect(found.end).toBe('reached');
    expect(found.large).toBeUndefined();
    expect(found.mtu).toBeNull();
  });

  const measure = async (spec: object = {}) => {
    const outcome = await network.check({
      type: 'mtr',
      host: host[4],
      packets: 10,
      interval: '100ms',
      timeout: '600ms',
      ...spec,
    });
    return { outcome, detail: outcome.detail as MtrDetail };
  };

  test.each(combinations)(
    'mtr loses nothing where nothing is lost: $protocol, IPv$family',
    async ({ family, protocol }) => {
      const { outcome, detail } = await measure({ host: host[family], protocol });
      expect(outcome).toMatchObject({ status: 'up', facts: { hops: 5, loss: 0 } });
      expect(hopsOf(detail.path)).toEqual(way[family]);
      for (const { sent, received, loss, best, mean, worst, jitter, limits_answers } of detail.figures) {
        expect([sent, received, loss, limits_answers]).toEqual([10, 10, 0, false]);
        expect(best).toBeLessThanOrEqual(mean!);
        expect(mean).toBeLessThanOrEqual(worst!);
        expect(jitter).toBeGreaterThanOrEqual(0);
      }
    },
  );

  const everyThird = '-m statistic --mode nth --every 3 --packet 0 -j DROP';

  test('loss on the way is loss at the end', async () => {
    using _ = scene('host', `iptables -A INPUT -p udp ${everyThird}`, 'iptables -F');
    const { outcome, detail } = await measure({ protocol: 'udp' });
    expect(outcome.status).toBe('up');
    expect(outcome.facts.loss).toBeGreaterThanOrEqual(0.2);
    expect(outcome.facts.loss).toBeLessThanOrEqual(0.5);
    expect(detail.figures.at(-1)).toMatchObject({ limits_answers: false });
    expect(detail.figures.slice(0, -1).every(({ loss }) => loss === 0)).toBe(true);
  });

  test('a router that limits its answers loses nothing', async () => {
    using _ = scene('routers 2', 'sysctl -qw net.ipv4.icmp_ratelimit=1000', 'sysctl -qw net.ipv4.icmp_ratelimit=0');
    const { outcome, detail } = await measure();
    expect(outcome).toMatchObject({ status: 'up', facts: { loss: 0 } });
    expect(detail.figures[1]!.loss).toBeGreaterThan(0);
    expect(detail.figures.map(({ limits_answers }) => limits_answers)).toEqual([false, true, false, false, false]);
  });

  test('networks are named from a file', async () => {
    const file = join(networksFolder(), 'names.tsv.gz');
    const list =
      '10.0.1.0\t10.0.1.255\t64500\tDE\tNear\n10.0.4.0\t10.0.5.255\t64501\tUS\tFar\nfd00:5::\tfd00:5::ffff\t64502\tUS\tSix\n';
    writeFileSync(file, gzipSync(list));
    const outcome = await network.check({ type: 'traceroute', host: host[4], protocol: 'udp' }, { asnFile: file });
    const [near, far] = [
      { number: 64_500, name: 'Near' },
      { number: 64_501, name: 'Far' },
    ];
    expect(traceOf(outcome).hops.map((hop) => hop.as)).toEqual([near, null, null, far, far]);
  });

  test('a bad file of AS names is reported with its line', async () => {
    const file = join(networksFolder(), 'names.tsv');
    writeFileSync(file, '10.0.1.0\t10.0.1.255\t64500\tDE\tNear\nnonsense\n');
    const outcome = await network.check({ type: 'traceroute', host: host[4], protocol: 'udp' }, { asnFile: file });
    expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'local' } });
    expect(JSON.stringify(outcome)).toContain(`${file}:2: expected first address`);
  });

  const scenes = [
    { name: 'nothing', place: 'routers 1', begin: 'true', end: 'true' },
    { name: 'a drop', place: 'routers 3', begin: `iptables -A FORWARD -d ${host[4]} -j DROP`, end: 'iptables -F' },
    {
      name: 'a rejection',
      place: 'routers 2',
      begin: `iptables -A FORWARD -d ${host[4]} -j REJECT --reject-with icmp-admin-prohibited`,
      end: 'iptables -F',
    },
    { name: 'a silent router', place: 'routers 2', begin: 'iptables -A OUTPUT -p icmp -j DROP', end: 'iptables -F' },
  ] as const;

  describe.each(scenes)("with $name, Debian's programs see the same", ({ place, begin, end }) => {
    const inNode = (command: readonly string[]) =>
      execFileSync('ip', ['netns', 'exec', network.node.name, ...command], { encoding: 'utf8' });

    test.each([
      { protocol: 'udp', flags: ['-U', '-p', '33434'] },
      { protocol: 'icmp', flags: ['-I'] },
      { protocol: 'tcp', flags: ['-T', '-p', '80'] },
    ])('traceroute over $protocol', async ({ protocol, flags }) => {
      using _ = scene(place, begin, end);
      const printed = inNode(['traceroute', '-n', '-q', '1', '-w', '1', '-m', '8', ...flags, host[4]]);
      const theirs = printed
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(/\s+/)[1] ?? '');
      const outcome = await trace({ protocol, max_hops: 8 });
      expect(hopsOf(traceOf(outcome))).toEqual(withoutTail(theirs));
    });

    test('mtr', async () => {
      using _ = scene(place, begin, end);
      const printed = JSON.parse(
        inNode(['mtr', '-n', '--gracetime', '1', '--json', '-c', '4', '-i', '0.2', '-m', '8', host[4]]),
      ) as {
        report: { hubs: { host: string; 'Loss%': number }[] };
      };
      const { detail } = await measure({ packets: 4, max_hops: 8, protocol: 'icmp' });
      const theirs = printed.report.hubs.map((hub) => (hub.host === '???' ? '*' : hub.host));
      expect(hopsOf(detail.path)).toEqual(withoutTail(theirs));
      const losses = printed.report.hubs.map((hub) => hub['Loss%'] / 100);
      expect(detail.figures.map(({ loss }) => loss)).toEqual(losses.slice(0, detail.figures.length));
    });

    test('tracepath', async (context) => {
      needsProgram(context, 'tracepath', 'iputils-tracepath');
      using _ = scene(place, begin, end);
      const printed = inNode(['sh', '-c', `tracepath -n -m 5 ${host[4]} || true`]);
      const theirs = [...printed.matchAll(/^\s*(\d+):\s+(\S+)/gm)].map(
        ([, hop, address]) => [Number(hop), address] as const,
      );
      const found = hopsOf(traceOf(await trace({ protocol: 'udp', max_hops: 8 })));
      for (const [hop, address] of theirs) if (address !== 'no') expect(found[hop - 1]).toBe(address);
    });
  });
});

const listening = `
import socket, sys, time
a = socket.socket(); a.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); a.bind(('', 8080)); a.listen(64)
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.bind(('', 8081))
print('ready', flush=True)
while True:
    data, peer = b.recvfrom(2048)
    b.sendto(b'hello', peer)
`;

/** Without the silence at the end but its first hop. */
function withoutTail(hops: readonly string[]): string[] {
  const lastAnswered = hops.findLastIndex((hop) => hop !== '*');
  return hops.slice(0, lastAnswered + 2);
}
