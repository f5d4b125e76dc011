import { type Buckets, createBuckets, type Rate } from '#kernel/buckets.ts';
import type { Clock } from '#kernel/clock.ts';
import { networkOf } from '#kernel/network.ts';

export interface RateLimits {
  readonly per_client: Rate;
  readonly per_target: Rate;
  readonly per_node: Rate;
  readonly overall: Rate;
}

export interface LimitCharge {
  /** Who asks: an address, or the name of a token. */
  readonly client: string;
  /** Who is checked: names and networks. Each bears the whole charge. */
  readonly targets: readonly string[];
  /** Each node costs one. */
  readonly nodes: readonly string[];
}

export interface Allowance {
  readonly ok: boolean;
  /** How many nodes this client may ask at once, and how many it may ask now. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the client has its full allowance again. */
  readonly resetSeconds: number;
  /** Seconds until the same charge will pass, rounded up; 0 where it passed. */
  readonly retryAfterSeconds: number;
  /** Which limit was hit, in words; empty where none was. */
  readonly hit: string;
}

export interface Limits {
  /** Takes the whole charge from every limit, or nothing. */
  take(charge: LimitCharge): Allowance;
  /** Whether it would be taken now. */
  peek(charge: LimitCharge): Allowance;
  /** Takes from a target what it has borne already, be it more than is left. */
  note(target: string, cost: number): void;
  /** How much of a node's allowance is used, from 0; 1 where it has none left for another check. */
  usedOf(node: string): number;
}

type BucketVisitor = (buckets: Buckets, key: string, cost: number) => void;

/** Token buckets per client (IPv4 /32, IPv6 /64), per target, per node and overall. Memory is bounded. */
export function createLimits(rates: RateLimits, clock: Clock): Limits {
  const clients = createBuckets(rates.per_client, clock);
  const targets = createBuckets(rates.per_target, clock);
  const nodes = createBuckets(rates.per_node, clock);
  const all = createBuckets(rates.overall, clock);

  // Asked for each start: what is taken from is walked through instead of listed.
  function eachOf({ client, targets: bearers, nodes: asked }: LimitCharge, visit: BucketVisitor): void {
    const cost = asked.length;
    visit(clients, networkOf(client), cost);
    for (const bearer of bearers) visit(targets, bearer, cost);
    for (const node of asked) visit(nodes, node, 1);
    visit(all, '', cost);
  }

  const wordsOf = (buckets: Buckets, key: string): string => {
    if (buckets === clients) return 'your allowance';
    if (buckets === targets) return 'the allowance of this target';
    return buckets === nodes ? `the allowance of node ${key}` : 'the allowance of the whole service';
  };

  function judge(charge: LimitCharge, isTaken: boolean): Allowance {
    let longestMs = 0;
    let hit = '';
    eachOf(charge, (buckets, key, cost) => {
      const waitMs = buckets.waitMs(key, cost);
      if (waitMs <= longestMs) return;
      longestMs = waitMs;
      hit = wordsOf(buckets, key);
    });
    const ok = longestMs === 0;
    if (ok && isTaken) eachOf(charge, (buckets, key, cost) => buckets.take(key, cost));
    const client = networkOf(charge.client);
    return {
      ok,
      limit: rates.per_client.count,
      remaining: clients.left(client),
      resetSeconds: Math.ceil(clients.fullInMs(client) / 1_000),
      retryAfterSeconds: Math.ceil(longestMs / 1_000),
      hit,
    };
  }

  return {
    take: (charge) => judge(charge, true),
    peek: (charge) => judge(charge, false),
    note: (target, cost) => targets.take(target, cost),
    usedOf: (node) => (nodes.waitMs(node, 1) > 0 ? 1 : Math.min(nodes.fullInMs(node) / rates.per_node.perMs, 0.999)),
  };
}
