import { isIP } from 'node:net';
import { z } from 'zod';
import { AddressRange, formatHostPort, NodeInfo, parseEndpoint } from '#checks/index.ts';
import { FilePath } from '#kernel/file-path.ts';
import { faultOfPasswordHash } from '#kernel/password.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { formatDuration } from '#kernel/units.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { BareWebUrl, Url } from '#kernel/url.ts';

/** A user's name for a target, a rule or a recipient. It is that thing's identity everywhere. */
export const Name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, {
  error: 'a name has 1 to 63 of a-z, 0-9, "-" and "_", and begins with a letter or a digit',
});

export const NodeName = z.string().regex(/^[a-z]{2}\d{1,4}$/, {
  error: 'the name of a node is two lower-case letters and a number, such as "de1"',
});

const listenHint = 'expected an address and a port, such as "127.0.0.1:8080" or "[::1]:8080"';
const listenPattern = /^(\[[\da-fA-F:.]+\]|[A-Za-z\d.-]+):(\d{1,5})$/;

interface Listen {
  readonly host: string;
  readonly port: number;
}

const Listen = z.codec(
  z.string({ error: listenHint }).regex(listenPattern, { error: listenHint }),
  z.custom<Listen>(),
  {
    decode(text, context): Listen {
      const [, host = '', port] = listenPattern.exec(text) ?? [];
      const parsed = parseEndpoint(host);
      if (!parsed.ok) context.issues.push({ code: 'custom', input: text, message: listenHint });
      if (Number(port) > 65_535) {
        context.issues.push({ code: 'custom', input: text, message: 'a port is a number from 0 to 65535' });
      }
      return { host: parsed.ok ? parsed.name : host, port: Number(port) };
    },
    encode: ({ host, port }) => formatHostPort(host, port),
  },
);

const User = z
  .strictObject({
    password_hash: z.string().max(300).optional().describe('What "watchpost users hash" printed.'),
    password_hash_file: FilePath.optional().describe('A file that holds it.'),
  })
  .superRefine((user, context) => {
    const { password_hash: hash, password_hash_file: file } = user;
    const say = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    if (hash === undefined && file === undefined)
      say('password_hash', 'is missing: create one with "watchpost users hash"');
    refuseBoth(user, 'password_hash', 'password_hash_file', context);
    const fault = typeof hash === 'string' ? faultOfPasswordHash(hash) : null;
    if (fault !== null) say('password_hash', fault);
  }, always);

export const HttpKeys = z.strictObject({
  listen: Listen.default({ host: '127.0.0.1', port: 8080 }).describe(
    'Address and port to serve the pages, the API, /metrics and /healthz on. Port 0 lets the system choose.',
  ),
  admin: Listen.optional().describe(
    'Another address and port, for /metrics, /healthz, /readyz and what operators do (/-/): then listen has none of them for others.',
  ),
  public_url: BareWebUrl('expected the address that people open, such as "https://status.example.com"')
    .optional()
    .describe('The address under which people reach this program: for the links in mails and in answers of the API.'),
  connections: z
    .int()
    .min(100)
    .max(20_000)
    .default(1_000)
    .describe('The most connections at the same time; each open page holds one.'),
  trust_proxy: z
    .array(AddressRange, { error: 'expected a list of addresses or ranges, such as [10.0.0.0/8]' })
    .max(100)
    .default([])
    .describe('Reverse proxies whose X-Forwarded-* headers are believed: addresses or ranges. Default: none.'),
  users: z
    .record(Name, User, { error: 'expected a map of users, such as "ops: { password_hash_file: ... }"' })
    .default({})
    .describe('Who may sign in; then all pages but status pages, badges and health require it.'),
  user_header: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, { error: 'expected the name of a header, such as "X-Forwarded-User"' })
    .optional()
    .describe('The header in which the proxies of trust_proxy name the user whom they let in. Default: none.'),
});

export const Http = HttpKeys.refine(
  ({ listen, admin }) => admin === undefined || admin.port === 0 || !sameListener(listen, admin),
  {
    path: ['admin'],
    error: 'is the same as listen: choose another port, or leave it out',
  },
);

const sameListener = (one: Listen, other: Listen) => one.host === other.host && one.port === other.port;

export const Address = z.string({ error: 'expected an IP address' }).refine((text) => isIP(text) !== 0, {
  error: 'expected an IP address, such as "192.0.2.10"',
});

const countryHint = 'expected a country code of two small letters, such as "de"';
const asnHint = 'expected the number of a network, such as "AS64500"';
const placeHint = 'expected [country code, country, city], such as [de, Germany, Berlin]';

/** The location of a node, as the operator states it. */
export const placeKeys = {
  location: z
    .tuple([z.string().regex(/^[a-z]{2}$/, { error: countryHint }), NodeInfo.shape.country, NodeInfo.shape.city], {
      error: placeHint,
    })
    .optional()
    .describe('Where the node is: [country code, country, city]. Default: an unknown place.'),
  asn: z
    .string({ error: asnHint })
    .regex(/^AS\d{1,10}$/, { error: asnHint })
    .optional()
    .describe('The number of the network that the node is in, such as AS64500. Default: unknown.'),
  ip: Address.optional().describe('The public address of the node, to be shown. Default: unknown.'),
};

/** Addresses of this machine to send checks from. */
export const LocalAddress = z
  .union([Address, z.array(Address).min(1).max(2)], {
    error: 'expected an IP address of this machine, or a list of one IPv4 and one IPv6 address',
  })
  .refine((written) => new Set([written].flat().map(isIP)).size === [written].flat().length, {
    error: 'expected at most one address of each family',
  });

const Node = z.strictObject({
  ...placeKeys,
  local_address: LocalAddress.optional().describe(
    'The address of this machine to send checks from, or a list of an IPv4 and an IPv6 one. Default: the system chooses.',
  ),
  in_flight: z.int().min(1).max(10_000).default(500).describe('How many checks the node runs at the same time.'),
});

export const Nodes = z.record(NodeName, Node).default({ zz1: { in_flight: 500 } });

const natsHint = 'expected tls://host, nats://host, wss://host or ws://host, with a port if it is not the default one';

const natsForm = { protocols: ['tls:', 'nats:', 'wss:', 'ws:'], bare: true };

/** The servers of one NATS. */
export const NatsServers = z
  .array(Url(natsHint, natsForm), { error: 'expected a list of servers, such as [tls://nats.example.com:4222]' })
  .min(1)
  .max(16)
  .refine((servers) => new Set(servers.map((server) => /^wss?:/.test(server))).size < 2, {
    error: 'expected either WebSocket servers (wss, ws) or others, not both',
  });

export const Nats = z.strictObject({
  servers: NatsServers.describe(
    'The NATS servers: tls://host:4222 (or nats:// without TLS), or wss://host (ws://) over WebSocket.',
  ),
  seed_file: FilePath.default('hub.nk').describe(
    'The key of the hub. "watchpost nodes init" makes it. One of several hubs uses hub-NAME.nk beside it if that is there.',
  ),
  ca_file: FilePath.optional().describe(
    'A file of PEM certificates to trust for these servers instead of the usual ones.',
  ),
  nodes_file: FilePath.default('nodes/nodes.json').describe(
    'The list of enrolled nodes, which "watchpost nodes" keeps. What nats-server includes is beside it, as .conf.',
  ),
  absent_after: Duration({ min: '10s', max: '7d' })
    .default(300_000)
    .describe('How long a node may be away before the log says so as an error.'),
});

const foreverHint = 'expected a duration with its unit, such as "730d", or forever';

const Forever = z.codec(z.string({ error: foreverHint }), z.number().nullable(), {
  decode(text, context): number | null {
    if (text === 'forever') return null;
    const { data, error } = Duration({ min: '1d', max: '36500d' }).safeParse(text);
    if (error === undefined) return data;
    context.issues.push({ code: 'custom', input: text, message: error.issues[0]?.message ?? foreverHint });
    return z.NEVER;
  },
  encode: (ms) => (ms === null ? 'forever' : formatDuration(ms)),
});

export const Retention = z.strictObject({
  raw: Duration({ min: '1h', max: '3650d' })
    .default(7_776_000_000)
    .describe('How long the results of targets are kept one by one.'),
  hours: Duration({ min: '1d', max: '36500d' })
    .default(63_072_000_000)
    .describe('How long the sums and percentiles of each hour are kept; at least as long as raw.'),
  days: Forever.default(null).describe('How long those of each day are kept: a duration, or forever.'),
  verdicts: Forever.default(null).describe(
    'How long verdict periods (up, down, unknown, maintenance), from which uptime and outages are computed, are kept: a duration, or forever.',
  ),
  incidents: Forever.default(157_680_000_000).describe(
    'How long incidents are kept after their end, with their notifications: a duration, or forever.',
  ),
  checks: Duration({ min: '1h', max: '3650d' })
    .default(2_592_000_000)
    .describe('How long checks that were started over the API are kept, and their reports can be read.'),
});

/** One of several hubs that share one history. */
export const Hubs = z.strictObject({
  name: Name.describe('The name of this hub. Each hub has its own.'),
  replicas: z
    .union([z.literal(1), z.literal(3), z.literal(5)], { error: 'expected 1, 3 or 5' })
    .optional()
    .describe(
      'On how many NATS servers the log of the hubs is kept; read when the first hub makes it. Default: 3 if nats has three servers or more, otherwise 1.',
    ),
  notify_after: Duration({ min: '1s', max: '1d' })
    .default(600_000)
    .describe(
      'How long another hub may be away, behind, or of another version or configuration, before the leader notifies that. That no hub leads is notified after a minute, or after this if it is shorter.',
    ),
});
