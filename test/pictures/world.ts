import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Random } from '#kernel/random.ts';
import { dayMs } from '#kernel/units.ts';
import { issue, issueAuthority } from '../support/certificates.ts';
import { dnsServer } from '../support/dns-server.ts';
import { grpcServer } from '../support/grpc-server.ts';
import { serveHttp, serveHttps } from '../support/http-servers.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { tcpServer } from '../support/tcp-servers.ts';
import { echo, webSocketServer } from '../support/web-socket-server.ts';
import { sumsOf, type Year } from '../support/written-year.ts';

/** A node of the world, by the address that its checks come from, and how far from it everything is. */
export const nodes = {
  de1: { address: '127.0.0.2', farMs: 24, location: ['de', 'Germany', 'Frankfurt'] },
  us1: { address: '127.0.0.3', farMs: 96, location: ['us', 'USA', 'Boston'] },
  jp1: { address: '127.0.0.4', farMs: 148, location: ['jp', 'Japan', 'Tokyo'] },
} as const;

/** Servers of every kind on loopback, and what watches them. */
export interface World extends AsyncDisposable {
  readonly config: string;
  /** Hosts to check from the form, by type: those that need nobody besides this machine. */
  readonly hosts: Readonly<Record<string, string>>;
  /** From now on the shop answers with an error, or well again. */
  setShop(isWell: boolean): void;
  /** The secret that the job calls with. */
  readonly secret: string;
  /** How the year before was. */
  readonly year: Pick<Year, 'sums' | 'outages'>;
}

/** What was watched for a year: how long it usually takes, in milliseconds; null where that is as far as the node is. */
export const past: Readonly<Record<string, number | null>> = {
  shop: null,
  checkout: 4,
  live: 3,
  mail: 0.05,
  certificate: 3,
  name: 1.5,
  voice: 1.2,
  gateway: 0.01,
  registration: 5,
};

/** How long the shop takes, in milliseconds: as far as the node is, and sometimes much longer. */
const shopMs = (farMs: number, chance: number): number => farMs + 18 + 30 * chance ** 4 + (chance > 0.97 ? 120 : 0);

export async function createWorld(port: number): Promise<World> {
  const stack = new AsyncDisposableStack();
  const authority = await issueAuthority();
  const issued = await issue({ names: ['shop.example.com'], ips: ['127.0.0.1'], days: [-40, 50], ca: authority });
  const random = seededRandom();
  let isWell = true;
  const shop = stack.use(
    await serveHttps({ ...issued }, (request, response) => {
      const answer = () => response.writeHead(isWell ? 200 : 503).end(isWell ? '{"ok":true}' : 'the database is away');
      setTimeout(answer, shopMs(farOf(request), random.next()));
    }),
  );
  const tcp = stack.use(await tcpServer((socket) => socket.end('220 mail.example.com ready\r\n')));
  const names = stack.use(
    await dnsServer((name, type) => ({
      answers: type === 'A' ? ['192.0.2.10', '192.0.2.11'].map((data) => ({ type: 'A', name, ttl: 300, data })) : [],
    })),
  );
  const grpc = stack.use(await grpcServer());
  const socket = stack.use(await webSocketServer(echo));
  const registry = stack.use(
    await serveHttp((request, response) => {
      const list = { version: '1.0', services: [[['example'], [`http://127.0.0.1:${registry.port}/rdap/`]]] };
      response.end(JSON.stringify(request.url === '/dns.json' ? list : registration()));
    }),
  );
  const udp = createSocket('udp4').bind(0, '127.0.0.1');
  udp.on('message', (message, { port: to, address }) => udp.send(message, to, address));
  await once(udp, 'listening');
  stack.defer(() => void udp.close());

  const ca = JSON.stringify(authority.cert);
  const local = (to: number) => `127.0.0.1:${to}`;
  const hosts = {
    ping: '127.0.0.1',
    http: `http://127.0.0.1:${port}/healthz`,
    tcp: local(tcp.port),
    udp: local(udp.address().port),
    tls: local(shop.port),
    grpc: grpc.host,
    websocket: `ws://${local(socket.port)}`,
  };
  const secret = 'pictures-and-nothing-else';
  const config = `
data: watchpost.db
http: { listen: "127.0.0.1:${port}" }
service: {}
nodes:
${Object.entries(nodes)
  .map(([name, one]) => `  ${name}: { location: [${one.location.join(', ')}], local_address: ${one.address} }`)
  .join('\n')}
defaults: { every: 2s, notify: [ops] }
targets:
  shop: { check: http, host: "https://127.0.0.1:${shop.port}/health", every: 5s, timeout: 2s, labels: { team: web }, objective: 99.9% over 30d, tls: { ca: ${ca} }, rules: [down, certificate] }
  checkout: { check: grpc, timeout: 900ms, host: "${grpc.host}", health_of: shop.Orders, labels: { team: web } }
  live: { check: websocket, timeout: 900ms, host: "${hosts.websocket}", send: hello, expect: you said hello, labels: { team: web } }
  mail: { check: tcp, timeout: 900ms, host: "${hosts.tcp}", expect: "220 ", labels: { team: mail } }
  certificate: { check: tls, timeout: 900ms, host: "${hosts.tls}", ca: ${ca}, labels: { team: mail } }
  name: { check: dns, timeout: 900ms, host: shop.example.com, resolver: "${names.address}", labels: { team: net } }
  voice: { check: udp, timeout: 900ms, host: "${hosts.udp}", send: hello, labels: { team: net } }
  gateway: { check: ping, host: 127.0.0.1, count: 4, interval: 100ms, timeout: 900ms, labels: { team: net }, rules: [down, loss] }
  registration: { check: domain, host: shop.example, every: 1m, bootstrap: "http://${local(registry.port)}/dns.json", labels: { team: net } }
  backup: { check: heartbeat, every: 1d, host: backup.example.com, secret_hash: ${createHash('sha256').update(secret).digest('hex')}, labels: { team: net } }
rules:
  down: { rounds: 2, recover: 2, confirm: false }
  certificate: { certificate: { expires_within: 14d } }
  loss: { loss: { above: 20% } }
notify: { ops: { email: { to: [ops@example.com] }, group_wait: 0s } }
maintenance: [{ targets: [mail], cron: "0 4 * * SUN", duration: 1h }]
pages: { status: { title: Example Inc., targets: { shop: Web shop, checkout: Checkout, mail: Mail }, groups: { Shop: [shop, checkout] }, color: "#6b3fa0", links: { Help: "https://example.com/help" } } }
`;
  return {
    config,
    hosts,
    secret,
    year: yearOf(seededRandom(7)),
    setShop: (next) => void (isWell = next),
    [Symbol.asyncDispose]: async () => stack.disposeAsync(),
  };
}

/** A shop that is busy by day and has a bad hour now and then; the others are well. */
function yearOf(random: Random): Pick<Year, 'sums' | 'outages'> {
  const today = Math.floor(Date.now() / dayMs);
  const daysAgo = [78, 51, 23, 2];
  return {
    sums(target, node, { from, to }) {
      const middle = past[target] ?? null;
      const farMs = Object.entries(nodes).find(([name]) => name === node)?.[1].farMs ?? 0;
      const busy = to - from === dayMs ? 1 : 1.5 - Math.cos(((from % dayMs) / dayMs) * 2 * Math.PI) / 2;
      const once = () =>
        middle === null ? shopMs(farMs, random.next()) * (0.85 + 0.15 * busy) : middle * (0.8 + random.next() ** 3);
      return sumsOf(Array.from({ length: 120 }, () => Math.round(once() * 1_000)));
    },
    outages: (target) =>
      target === 'shop'
        ? daysAgo.map((days) => {
            const from = (today - days) * dayMs + 9.4 * 3_600_000;
            return { from, to: from + 4 * 60_000 + days * 3_000 };
          })
        : [],
  };
}

function farOf({ socket: { remoteAddress } }: IncomingMessage): number {
  return Object.values(nodes).find(({ address }) => address === remoteAddress)?.farMs ?? 0;
}

const registration = () => ({
  objectClassName: 'domain',
  ldhName: 'shop.example',
  status: ['active'],
  events: [
    { eventAction: 'registration', eventDate: '2019-03-01T00:00:00Z' },
    { eventAction: 'expiration', eventDate: new Date(Date.now() + 200 * 86_400_000).toISOString() },
  ],
  entities: [
    {
      roles: ['registrar'],
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Names Inc.'],
        ],
      ],
    },
  ],
});
