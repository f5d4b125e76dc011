import { type CheckTypeName, parseEndpoint } from '#checks/index.ts';
import { WatchpostError } from '#kernel/errors.ts';

/** What a destination is checked by, by its scheme; with a port alone by a connection, and with neither by a ping. */
const byScheme: Readonly<Record<string, CheckTypeName>> = {
  http: 'http',
  https: 'http',
  ws: 'websocket',
  wss: 'websocket',
  postgres: 'postgres',
  postgresql: 'postgres',
  mysql: 'mysql',
  redis: 'redis',
  rediss: 'redis',
  mongodb: 'mongodb',
  mqtt: 'mqtt',
  mqtts: 'mqtt',
  amqp: 'amqp',
  amqps: 'amqp',
  ssh: 'ssh',
};

/** The type of check that fits a destination as people write it. Throws `usage` for what is no destination. */
export function proposedType(host: string): CheckTypeName {
  const endpoint = parseEndpoint(host);
  if (!endpoint.ok) throw new WatchpostError('usage', `${JSON.stringify(host)} ${endpoint.message}`);
  const { scheme, port } = endpoint;
  const known = scheme === null ? undefined : byScheme[scheme];
  if (known !== undefined) return known;
  return scheme === null && port === null ? 'ping' : 'tcp';
}

const longestName = 50;

/** A name for a target, from its host, that no other target has: `www.shop.example.com` becomes `shop-example-com`. */
export function proposedName(host: string, taken: ReadonlySet<string>): string {
  const endpoint = parseEndpoint(host);
  const written = endpoint.ok ? endpoint.name.replace(/^www\./, '') : host;
  const plain = written
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longestName)
    .replaceAll(/^-+|-+$/g, '');
  const name = plain === '' ? 'target' : plain;
  let candidate = name;
  for (let number = 2; taken.has(candidate); number += 1) candidate = `${name}-${number}`;
  return candidate;
}
