import { hasReached, type ProbeArrival, type RoundsPlan, type RoundsResult } from './rounds.ts';
import type { PathEnd, PathHop, PathProbe } from './path-trace.ts';

export interface PathHops {
  readonly hops: PathHop[];
  readonly end: PathEnd;
}

/** Sorts the probes of a measurement by hop, and finds out how the path ends. */
export function hopsOf(plan: RoundsPlan, result: RoundsResult): PathHops {
  const { probes, lastHop, errno } = result;
  const all = byHop(plan, result);
  if (lastHop !== null) {
    const answers = probes.flatMap(({ hop, answer }) => (hop === lastHop && answer !== null ? [answer] : []));
    return { hops: all, end: answers.some((answer) => hasReached(plan, answer)) ? 'reached' : 'rejected' };
  }
  if (errno !== null) return { hops: all, end: 'error' };
  const again = repeatedHop(all);
  if (again !== null) return { hops: all.slice(0, again), end: 'loop' };
  const lastAnswered = all.findLast(({ probes }) => probes.some(({ address }) => address !== null))?.hop ?? 0;
  if (lastAnswered === plan.maxHops) return { hops: all, end: 'limit' };
  return { hops: all.slice(0, lastAnswered + 1), end: 'silent' };
}

/** The hops so far, up to the last one that answered. */
export function interimHopsOf(plan: RoundsPlan, result: RoundsResult): PathHops {
  const hops = byHop(plan, result);
  const last = hops.findLastIndex(({ probes }) => probes.some(({ kind }) => kind !== 'none'));
  return { hops: hops.slice(0, last + 1), end: 'measuring' };
}

function byHop(plan: RoundsPlan, result: RoundsResult): PathHop[] {
  const last = result.lastHop ?? plan.maxHops;
  return Array.from({ length: last }, (_, index) => index + 1).flatMap((hop) => {
    const ours = result.probes.filter((probe) => probe.hop === hop);
    const found = ours.slice(0, plan.rounds).map(({ answer }) => probeOf(answer));
    // Asked again alone because an earlier answer did not state its probe.
    const alone = ours[plan.rounds]?.answer ?? null;
    if (alone !== null) found[0] = probeOf(alone);
    if (found.length === 0) return [];
    const isDestination = ours.some(({ answer }) => answer !== null && hasReached(plan, answer));
    return [{ hop, probes: isDestination && plan.protocol === 'udp' ? completed(plan, found, result, hop) : found }];
  });
}

/**
 * The probes to the destination, with answers in place of none: those to probes that went beyond it, since hosts limit how many errors
 * they send, and those that do not state their probe, as many as fall to this hop.
 */
function completed(
  plan: RoundsPlan,
  found: readonly PathProbe[],
  { probes, namelessReplies }: RoundsResult,
  hop: number,
): PathProbe[] {
  const beyond = probes.filter((probe) => probe.hop > hop);
  const spare = plan.countsLoss ? [] : beyond.filter(({ answer }) => answer !== null && hasReached(plan, answer));
  let nameless = Math.round((found.length * namelessReplies) / (beyond.length + found.length));
  return found.map((probe) => {
    if (probe.kind !== 'none') {
      if (probe.kind === 'reply') nameless -= 1;
      return probe;
    }
    const other = spare.shift()?.answer;
    if (other !== undefined) return probeOf(other);
    nameless -= 1;
    return nameless >= 0 ? { address: plan.address, seconds: null, kind: 'reply' } : probe;
  });
}

function probeOf(answer: ProbeArrival | null): PathProbe {
  return answer === null ? { address: null, seconds: null, kind: 'none' } : { ...answer };
}

// The first hop whose address came before, with another one in between: packets go in a circle.
function repeatedHop(hops: readonly PathHop[]): number | null {
  const seen = new Map<string, number>();
  let previous: string | null = null;
  for (const { hop, probes } of hops) {
    const address = probes.find((probe) => probe.address !== null)?.address ?? null;
    if (address === null) continue;
    if (address !== previous && seen.has(address)) return hop;
    seen.set(address, hop);
    previous = address;
  }
  return null;
}
