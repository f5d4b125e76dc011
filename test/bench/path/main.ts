import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createRoutedNetwork, routedNetworkObstacle } from '../../support/routed-network.ts';
import { comeFirst } from '../tools/processes.ts';

// CPU of one traceroute over four routers, beside Debian's, in the same namespaces. Theirs includes the start of the program, which is
// what it takes to run it; ours runs in the process of the daemon.
const count = 200;
const host = '10.0.5.2';
const flags = { udp: ['-U'], icmp: ['-I'], tcp: ['-T', '-p', '80'] } as const;

const obstacle = routedNetworkObstacle();
if (obstacle !== null) throw new Error(obstacle);
comeFirst();
await using network = createRoutedNetwork();
const inNode = (command: readonly string[]) =>
  execFileSync('ip', ['netns', 'exec', network.node.name, ...command], { encoding: 'utf8' });

console.log(`CPU of one traceroute over 5 hops with 3 packets each, mean of ${count} (ms)\n`);
console.log('| protocol | watchpost | Debian traceroute | ratio |\n| --- | --- | --- | --- |');
for (const protocol of ['udp', 'icmp', 'tcp'] as const) {
  const child = fileURLToPath(new URL('child.ts', import.meta.url));
  const ours = JSON.parse(inNode([process.execPath, child, host, protocol, String(count)])) as {
    readonly cpuMs: number;
    readonly hops: number;
  };
  if (ours.hops !== 5) throw new Error(`${protocol}: ${ours.hops} hops instead of 5`);
  const command = ['traceroute', '-n', ...flags[protocol], host].join(' ');
  const printed = inNode(['bash', '-c', `for i in $(seq ${count}); do ${command} >/dev/null; done; times`]);
  // The last line of `times` is that of the children.
  const spent = [...(printed.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  const theirs = spent.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
  const theirMs = (theirs * 1e3) / count;
  const ratio = (ours.cpuMs / theirMs).toFixed(2);
  console.log(`| ${protocol} | ${ours.cpuMs.toFixed(2)} | ${theirMs.toFixed(2)} | ${ratio} |`);
}
