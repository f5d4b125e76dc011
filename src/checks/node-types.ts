import type { EvidencePlan } from './evidence/plan.ts';
import type { Prober, ProbeEnvironment } from './check.ts';

// What nodes need of check types. A type is loaded with the first check of it: all of them, with their schemas, would be a quarter of what a
// node's thread holds.

export { createGates } from './gate.ts';
export { failed, failure } from './outcome.ts';
export { ownAddresses } from './own-addresses.ts';
export { createResolver } from './resolver.ts';

interface LoadableType {
  /** Imports the type, out of `index.ts` of its folder. */
  readonly load: () => Promise<LoadedType>;
  /** Every node can run it, so that there is nothing to try out. */
  readonly isAbleEverywhere?: true;
  readonly isInternal?: true;
  readonly sendsMany?: true;
}

/** A check type, as far as nodes use it. */
export interface LoadedType {
  readonly type: string;
  start(environment: ProbeEnvironment): Promise<Prober<unknown, unknown>>;
  readonly evidence?: (spec: never) => EvidencePlan | null;
  readonly Spec: {
    safeParse(of: unknown): { readonly success: true; readonly data: unknown } | { readonly success: false };
  };
}

/** The types that nodes run. Each import has to be written out, for whatever copies the program. */
const types = {
  ping: { load: async () => (await import('./ping/index.ts')).ping },
  http: { load: async () => (await import('./http/index.ts')).http, isAbleEverywhere: true },
  tcp: { load: async () => (await import('./tcp/index.ts')).tcp, isAbleEverywhere: true },
  dns: { load: async () => (await import('./dns/index.ts')).dns, isAbleEverywhere: true },
  udp: { load: async () => (await import('./udp/index.ts')).udp, isAbleEverywhere: true },
  tls: { load: async () => (await import('./tls/index.ts')).tls, isAbleEverywhere: true },
  grpc: { load: async () => (await import('./grpc/index.ts')).grpc, isAbleEverywhere: true },
  websocket: { load: async () => (await import('./websocket/index.ts')).websocket, isAbleEverywhere: true },
  postgres: { load: async () => (await import('./postgres/index.ts')).postgres, isAbleEverywhere: true },
  mysql: { load: async () => (await import('./mysql/index.ts')).mysql, isAbleEverywhere: true },
  redis: { load: async () => (await import('./redis/index.ts')).redis, isAbleEverywhere: true },
  mongodb: { load: async () => (await import('./mongodb/index.ts')).mongodb, isAbleEverywhere: true },
  mqtt: { load: async () => (await import('./mqtt/index.ts')).mqtt, isAbleEverywhere: true },
  amqp: { load: async () => (await import('./amqp/index.ts')).amqp, isAbleEverywhere: true },
  ssh: { load: async () => (await import('./ssh/index.ts')).ssh, isAbleEverywhere: true },
  domain: { load: async () => (await import('./domain/index.ts')).domain, isAbleEverywhere: true },
  traceroute: { load: async () => (await import('./traceroute/index.ts')).traceroute, sendsMany: true },
  mtr: { load: async () => (await import('./mtr/index.ts')).mtr, sendsMany: true },
  flow: { load: async () => (await import('./flow/index.ts')).flow, isAbleEverywhere: true },
  plugin: { load: async () => (await import('./plugin/index.ts')).plugin },
  docker: { load: async () => (await import('./docker/index.ts')).docker },
  systemd: { load: async () => (await import('./systemd/index.ts')).systemd },
  evidence: {
    load: async () => (await import('./evidence/index.ts')).evidenceBy(planOf),
    isAbleEverywhere: true,
    isInternal: true,
  },
} as const satisfies Readonly<Record<string, LoadableType>>;

export type NodeTypeName = keyof typeof types;

const byName: ReadonlyMap<string, LoadableType> = new Map(Object.entries(types));

/** All types that nodes run, in the order of the list of all. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of that very object
export const nodeTypeNames = Object.keys(types) as readonly NodeTypeName[];

/** What is known about a type before it is loaded; null if nodes do not run it. */
export function nodeTypeOf(type: string): LoadableType | null {
  return byName.get(type) ?? null;
}

/** The plan for an encoded spec by its own type, or why there is none. */
export async function planOf(of: Readonly<Record<string, unknown>>): Promise<EvidencePlan | string> {
  const known = typeof of['type'] === 'string' ? nodeTypeOf(of['type']) : null;
  const type = (await known?.load()) ?? null;
  const parsed = type?.Spec.safeParse(of);
  if (type === null || parsed?.success !== true) return 'this node cannot read the spec of the target';
  // Sound because the spec is what this very type has parsed.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return type.evidence?.(parsed.data as never) ?? `there is no evidence of type ${type.type}`;
}
