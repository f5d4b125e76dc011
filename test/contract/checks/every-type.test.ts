import { expect, test } from 'vitest';
import { createGate } from '#checks/gate.ts';
import { CheckSpec, type Outcome, probedTypeNames } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { systemRandom } from '#kernel/random.ts';
import { issue } from '../../support/certificates.ts';
import { tlsServer } from '../../support/tcp-servers.ts';
import { startProber } from '../../support/probe-once.ts';

// What has to be so for every type of check, those to come included.

async function check(given: object, address = '127.0.0.1'): Promise<Outcome> {
  const spec = CheckSpec.parse(given);
  const resolver = { resolve: async () => ({ ok: true as const, addresses: [address] }) };
  const clock = systemClock;
  const gate = createGate({ policy: 'private', allow: [], deny: [], resolver, clock, ownAddresses: () => [] });
  const prober = await startProber(spec.type, { clock, random: systemRandom, localAddress: {}, plugins });
  try {
    return await prober.probe(spec, { gate, signal: new AbortController().signal });
  } finally {
    await prober.close();
  }
}

const plugins = { any: ['/bin/true', '{address}'] };

const specs: Readonly<Record<string, object>> = {
  ping: { host: 'a.example' },
  http: { host: 'https://a.example/' },
  tcp: { host: 'a.example:25', preset: 'smtp', starttls: true },
  dns: { host: 'b.example', resolver: 'a.example', record: 'A' },
  udp: { host: 'a.example:53' },
  tls: { host: 'a.example' },
  grpc: { host: 'a.example:50051' },
  websocket: { host: 'wss://a.example/' },
  postgres: { host: 'a.example' },
  mysql: { host: 'a.example' },
  redis: { host: 'a.example' },
  mongodb: { host: 'a.example' },
  mqtt: { host: 'a.example' },
  amqp: { host: 'a.example' },
  ssh: { host: 'a.example' },
  flow: { host: 'https://a.example/', steps: [{ url: '/' }] },
  plugin: { host: 'a.example', plugin: 'any' },
  traceroute: { host: 'a.example', protocol: 'udp' },
  mtr: { host: 'a.example', protocol: 'udp' },
};

// Of a domain a registry is asked: where that leads is never the domain's fault.
const reaching = probedTypeNames.filter((type) => type !== 'domain' && type !== 'docker' && type !== 'systemd');

test('all types are here', () => {
  expect(Object.keys(specs).toSorted()).toEqual([...reaching].toSorted());
});

test.each(reaching)(
  'a name that leads nowhere, as that of an expired domain does, is the target itself: %s',
  async (type) => {
    for (const address of ['0.0.0.0', '240.0.0.1', '255.255.255.255', '224.0.0.1', 'ff02::1']) {
      expect(await check({ type, ...specs[type] }, address)).toMatchObject({
        status: 'down',
        failure: { source: 'target', code: 'name_without_address' },
      });
    }
  },
);

test.each([
  ['http', (host: string) => ({ host: `https://${host}/`, tls: { verify: false } })],
  ['tcp', (host: string) => ({ host, tls: { verify: false }, expect: 'hello' })],
  ['grpc', (host: string) => ({ host, tls: { verify: false } })],
  ['websocket', (host: string) => ({ host: `wss://${host}/`, tls: { verify: false } })],
])('a TLS alert after the handshake is the doing of the target: %s', async (type, specOf) => {
  const made = await issue({ names: ['a.example'] });
  // HTTP/2 only where it is offered, so that the connection lives until the alert.
  await using demanding = await tlsServer(
    { ...made, requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2', 'http/1.1'] },
    () => {},
  );
  const seen = await check({ type, ...specOf(demanding.host) });
  expect(seen).toMatchObject({ status: 'down', failure: { source: 'target', code: 'tls' } });
});
