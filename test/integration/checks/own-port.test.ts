import { expect, test } from 'vitest';
import { runIsolated, whyNotIsolated } from '../../support/isolated.ts';

// A connection to a closed port of this machine is made with itself if the system happens to choose the same port for its own end: a
// simultaneous open (RFC 9293, section 3.5). A network with a single port to choose makes that certain.

const why = await whyNotIsolated();

const specs = (port: number) => [
  { type: 'tcp', host: `127.0.0.1:${port}` },
  { type: 'tcp', host: `[::1]:${port + 1}` },
  { type: 'tcp', host: `127.0.0.1:${port + 2}`, send: 'hello', expect: 'hello' },
  { type: 'http', host: `http://127.0.0.1:${port + 3}/` },
  { type: 'tls', host: `127.0.0.1:${port + 4}` },
  { type: 'redis', host: `127.0.0.1:${port + 5}` },
  { type: 'dns', host: 'a.example', resolver: `127.0.0.1:${port + 6}`, protocol: 'tcp', record: 'A' },
  { type: 'dns', host: 'a.example', resolver: `127.0.0.1:${port + 7}`, record: 'A' },
  { type: 'udp', host: `127.0.0.1:${port + 8}` },
  { type: 'udp', host: `[::1]:${port + 9}`, send: { text: 'hello' }, expect: 'hello' },
];

// A port that was used so is not free again for a while.
const first = 40_001;
const given = specs(first);

const code = `
  import { writeFileSync } from 'node:fs';
  import { createGate } from '#checks/gate.ts';
  import { CheckSpec } from '#checks/index.ts';
  import { nodeTypeOf } from '#checks/node-types.ts';
  import { systemClock as clock } from '#kernel/clock.ts';
  import { systemRandom as random } from '#kernel/random.ts';
  const resolver = { resolve: async () => ({ ok: true, addresses: [] }) };
  const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const outcomes = [];
  for (const [index, given] of ${JSON.stringify(given)}.entries()) {
    const port = ${first} + index;
    writeFileSync('/proc/sys/net/ipv4/ip_local_port_range', port + ' ' + port);
    const spec = CheckSpec.parse({ timeout: '1s', ...given });
    const prober = await (await nodeTypeOf(spec.type).load()).start({ clock, random, localAddress: {} });
    const { status, failure } = await prober.probe(spec, { gate, signal: new AbortController().signal });
    await prober.close();
    outcomes.push([status, failure?.source, failure?.code].join(' '));
  }
  console.log(JSON.stringify(outcomes));
`;

test('a check that has reached nothing but its own port finds the port closed', async (context) => {
  if (why !== null) context.skip(why);
  expect(JSON.parse(await runIsolated('ip link set lo up', code))).toEqual(given.map(() => 'down target refused'));
});
