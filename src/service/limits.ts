import { type Buckets, createBuckets, type Rate } from '#kernel/buckets.ts';
import type { Clock } from '#kernel/clock.ts';
import { networkOf } from '#kernel/network.ts';

export interface RateLimits {
  readonly per_client: Rate;
  readonly per_target: Rate;
  readonly per_node: Rate;
  readonly overall: Rate;
  /** For strangers' checks of types that have a limit of their own. */
  readonly domain_per_client: Rate;
  readonly domain_per_node: Rate;
}

export interface LimitCharge {
  /** Who asks: an address, or the name of a token. */
  readonly client: string;
  /** Who is checked: names and networks. Each bears the whole charge. */
  readonly targets: readonly string[];
  /** Each node costs one. */
  readonly nodes: readonly string[];
  /** Whether a stranger asks for a check of a type that has a limit of its own. */
  readonly isScarce?: boolean;
}

/** How much of a limit is left to a client. */
export interface ClientAllowance {
  /** How many nodes this client may ask at once, and how many it may ask now. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the client has its full allowance again. */
  readonly resetSeconds: number;
}

export interface Allowance extends ClientAllowance {
  readonly ok: boolean;
  /** Which of the client's limits these are about. */
  readonly resource: LimitName;
  /** Seconds until the same charge will pass, rounded up; 0 if it passed. */
  readonly retryAfterSeconds: number;
  /** Which limit was hit, in words; empty if none was. */
  readonly hit: string;
}

/** What a client has limits for: checks in general, and strangers' checks of types that have a limit of their own. */
export type LimitName = 'checks' | 'domain';

export interface Limits {
  readonly rates: RateLimits;
  /** What is left to a client. */
  leftOf(client: string, resource: LimitName): ClientAllowance;
  /** Takes the whole charge from every limit, or nothing. */
  take(charge: LimitCharge): Allowance;
  /** Whether it would be taken now. */
  peek(charge: LimitCharge): Allowance;
  /** Takes a charge that another hub has granted, be it more than is left. */
  grantedElsewhere(charge: LimitCharge): void;
  /** Takes from a target what it has borne already, be it more than is left. */
  note(target: string, cost: number): void;
  /** How much of a node's allowance is used, from 0; 1 if it has none left for another check. */
  usedOf(node: string, isScarce?: boolean): number;
}

type BucketVisitor = (buckets: Buckets, key: string, cost: number) => void;

/** Token buckets per client (IPv4 /32, IPv6 /64), per target, per node and overall. Memory is bounded. `onTaken` is called with each charge that was granted. */
export function createLimits(
  rates: RateLimits,
  clock: Clock,
  onTaken: (charge: LimitCharge) => void = () => {},
): Limits {
  const clients = createBuckets(rates.per_client, clock);
  const targets = createBuckets(rates.per_target, clock);
  const nodes = createBuckets(rates.per_node, clock);
  const all = createBuckets(rates.overall, clock);
  const scarceClients = createBuckets(rates.domain_per_client, clock);
  const scarceNodes = createBuckets(rates.domain_per_node, clock);

  // Asked for each start: what is taken from is walked through instead of listed.
  function eachOf(
    { client, targets: bearers, nodes: asked, isScarce = false }: LimitCharge,
    visit: BucketVisitor,
  ): void {
    const cost = asked.length;
    visit(clients, networkOf(client), cost);
    for (const bearer of bearers) visit(targets, bearer, cost);
    for (const node of asked) visit(nodes, node, 1);
    visit(all, '', cost);
    if (!isScarce) return;
    visit(scarceClients, networkOf(client), cost);
    for (const node of asked) visit(scarceNodes, node, 1);
  }

  const wordsOf = (buckets: Buckets, key: string): string => {
    if (buckets === clients) return 'your allowance';
    if (buckets === scarceClients) return 'your allowance for checks of this type';
    if (buckets === scarceNodes) return `the allowance of node ${key} for checks of this type`;
    if (buckets === targets) return 'the allowance of this target';
    return buckets === nodes ? `the allowance of node ${key}` : 'the allowance of the whole service';
  };

  const takeAll = (charge: LimitCharge) => eachOf(charge, (buckets, key, cost) => buckets.take(key, cost));

  function judge(charge: LimitCharge, isTaken: boolean): Allowance {
    let longestMs = 0;
    let longest: Buckets | null = null;
    let hit = '';
    eachOf(charge, (buckets, key, cost) => {
      const waitMs = buckets.waitMs(key, cost);
      if (waitMs <= longestMs) return;
      longestMs = waitMs;
      longest = buckets;
      hit = wordsOf(buckets, key);
    });
    const ok = longestMs === 0;
    if (ok && isTaken) {
      takeAll(charge);
      onTaken(charge);
    }
    // What is left of the limit that did not refuse would mislead.
    const resource = charge.isScarce === true && longest !== clients ? 'domain' : 'checks';
    return {
      ok,
      resource,
      ...leftOf(charge.client, resource),
      retryAfterSeconds: Math.ceil(longestMs / 1_000),
      hit,
    };
  }

  function leftOf(client: string, resource: LimitName): ClientAllowance {
    const [buckets, { count }] =
      resource === 'domain' ? [scarceClients, rates.domain_per_client] : [clients, rates.per_client];
    const key = networkOf(client);
    return { limit: count, remaining: buckets.left(key), resetSeconds: Math.ceil(buckets.fullInMs(key) / 1_000) };
  }

  const usedIn = (buckets: Buckets, { perMs }: Rate, node: string) =>
    buckets.waitMs(node, 1) > 0 ? 1 : Math.min(buckets.fullInMs(node) / perMs, 0.999);

  return {
    take: (charge) => judge(charge, true),
    peek: (charge) => judge(charge, false),
    grantedElsewhere: takeAll,
    note: (target, cost) => targets.take(target, cost),
    rates,
    leftOf,
    usedOf(node, isScarce = false) {
      const used = usedIn(nodes, rates.per_node, node);
      return isScarce ? Math.max(used, usedIn(scarceNodes, rates.domain_per_node, node)) : used;
    },
  };
}
