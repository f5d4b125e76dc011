import { expect, test } from 'vitest';
import { mailsIn } from '../support/mail-files.ts';
import { eventually, query } from '../support/program.ts';
import { createRoutedNetwork, routedNetworkObstacle } from '../support/routed-network.ts';
import { programBehindRouters, startRoutedServices } from '../support/routed-services.ts';

const obstacle = routedNetworkObstacle();

const server = `require('node:net').createServer((socket) => socket.destroy()).listen(8081, '0.0.0.0', () => console.log('ready'))`;

test.skipIf(obstacle !== null)(
  'of thirty targets behind one router that fails each mail states where their packets end',
  async () => {
    await using network = createRoutedNetwork();
    const { node, host, routers } = network;
    const addresses = Array.from({ length: 30 }, (_, index) => `10.0.5.${100 + index}`);
    for (const address of addresses) host.run(['ip', 'address', 'add', `${address}/32`, 'dev', 'left']);
    for (const address of ['10.0.1.8', '10.0.1.9']) node.run(['ip', 'address', 'add', `${address}/24`, 'dev', 'right']);
    const serving = host.start([process.execPath, '--eval', server]);
    await new Promise((resolve) => serving.stdout?.once('data', resolve));
    await startRoutedServices(network);
    await using program = await programBehindRouters(network);
    const targets = addresses.map((address, index) => {
      return `  t${index}: { check: tcp, host: "${address}:8081", timeout: 900ms, notify: [all, r${index}] }`;
    });
    await program.start(`
data: watchpost.db
http: { listen: 127.0.0.1:0 }
nodes: { de1: { local_address: 10.0.1.1 }, fr1: { local_address: 10.0.1.9 }, us1: { local_address: 10.0.1.8 } }
evidence: { last_good: false }
defaults: { every: 2s }
rules: { down: { failing: majority, rounds: 1 } }
targets:
${targets.join('\n')}
notify:
  all: { email: { to: [all@example.com] } }
${addresses.map((_, index) => `  r${index}: { email: { to: [r${index}@example.com] } }`).join('\n')}
`);
    await eventually(60_000, () => {
      const [row] = query(
        program.database,
        "SELECT count(DISTINCT target || node) AS n FROM history WHERE status = 'up'",
      );
      expect(row).toEqual({ n: 3 * addresses.length });
    });
    // In one go: a node that fails before the others is suspected, and so is the next one.
    const drop = ['10.0.5.64/26', '10.0.5.128/31'].map((to) => `-A FORWARD ! -s 10.0.1.8 -d ${to} -j DROP`);
    const rules = ['*filter', ...drop, 'COMMIT', ''].join('\n');
    routers[2]?.run(['sh', '-ec', 'printf %s "$0" | iptables-restore --noflush', rules]);
    const all = await eventually(100_000, async () => {
      const mails = await mailsIn(program.folder);
      const found = new Map(mails.map(({ to, text }) => [to?.[0]?.address, text ?? '']));
      expect(found.size).toBe(addresses.length + 1);
      return found;
    });
    const line = 'Packets from de1 and fr1 end after 10.0.3.2 (hop 3); us1 gets through';
    for (const [to, text] of all) expect([to, text]).toEqual([to, expect.stringContaining(line)]);
    const shared = [...all.values()].filter((text) => text.includes('examined targets that failed at the same time'));
    expect(shared.length).toBeGreaterThan(1);
    expect(all.get('all@example.com')).toMatch(/t\d+ and \d+ more: Packets from de1 and fr1 end after/);
  },
  240_000,
);
