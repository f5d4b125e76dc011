import type { Prober, ProbeEnvironment } from './check.ts';

// What nodes need of check types: how they are probed. A type is loaded with the first check of it, and without its schemas: they, and the
// library that makes them, would be a quarter of what a node's thread holds.

export { createGates } from './gate.ts';
export { failed, failure } from './outcome.ts';
export { ownAddresses } from './own-addresses.ts';
export { createResolver } from './resolver.ts';

export interface LoadableType {
  /** Imports `probe.ts` of its folder. */
  readonly load: () => Promise<LoadedType>;
  /** Every node can run it, so that there is nothing to try out. */
  readonly isAbleEverywhere?: true;
  readonly isInternal?: true;
  readonly sendsMany?: true;
}

/** The `probe.ts` of a check type. */
export interface LoadedType {
  /** Opens what all probes of a node share. Never rejects for lack of rights: then the capability says so. */
  start(environment: ProbeEnvironment): Promise<Prober<unknown, unknown>>;
}

/** The types that nodes run. Each import has to be written out, for whatever copies the program. */
const types = {
  ping: { load: async () => import('./ping/probe.ts') },
  http: { load: async () => import('./http/probe.ts'), isAbleEverywhere: true },
  tcp: { load: async () => import('./tcp/probe.ts'), isAbleEverywhere: true },
  dns: { load: async () => import('./dns/probe.ts'), isAbleEverywhere: true },
  udp: { load: async () => import('./udp/probe.ts'), isAbleEverywhere: true },
  tls: { load: async () => import('./tls/probe.ts'), isAbleEverywhere: true },
  grpc: { load: async () => import('./grpc/probe.ts'), isAbleEverywhere: true },
  websocket: { load: async () => import('./websocket/probe.ts'), isAbleEverywhere: true },
  postgres: { load: async () => import('./postgres/probe.ts'), isAbleEverywhere: true },
  mysql: { load: async () => import('./mysql/probe.ts'), isAbleEverywhere: true },
  redis: { load: async () => import('./redis/probe.ts'), isAbleEverywhere: true },
  mongodb: { load: async () => import('./mongodb/probe.ts'), isAbleEverywhere: true },
  mqtt: { load: async () => import('./mqtt/probe.ts'), isAbleEverywhere: true },
  amqp: { load: async () => import('./amqp/probe.ts'), isAbleEverywhere: true },
  ssh: { load: async () => import('./ssh/probe.ts'), isAbleEverywhere: true },
  domain: { load: async () => import('./domain/probe.ts'), isAbleEverywhere: true },
  traceroute: { load: async () => import('./traceroute/probe.ts'), sendsMany: true },
  mtr: { load: async () => import('./mtr/probe.ts'), sendsMany: true },
  flow: { load: async () => import('./flow/probe.ts'), isAbleEverywhere: true },
  plugin: { load: async () => import('./plugin/probe.ts') },
  docker: { load: async () => import('./docker/probe.ts') },
  systemd: { load: async () => import('./systemd/probe.ts') },
  evidence: {
    load: async () => import('./evidence/probe.ts'),
    isAbleEverywhere: true,
    isInternal: true,
  },
} as const satisfies Readonly<Record<string, LoadableType>>;

export type NodeTypeName = keyof typeof types;

/** All types that nodes run, by name. */
export const nodeTypes: ReadonlyMap<string, LoadableType> = new Map(Object.entries(types));

/** All types that nodes run, in the order of the list of all. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of that very object
export const nodeTypeNames = Object.keys(types) as readonly NodeTypeName[];

/** What is known about a type before it is loaded; null if nodes do not run it. */
export function nodeTypeOf(type: string): LoadableType | null {
  return nodeTypes.get(type) ?? null;
}
