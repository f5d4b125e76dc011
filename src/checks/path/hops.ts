import { hasReached, type ProbeArrival, type RoundsPlan, type RoundsResult, type SentProbe } from './rounds.ts';
import type { PathEnd, PathHop, PathProbe } from './path-trace.ts';

export interface PathHops {
  readonly hops: PathHop[];
  readonly end: PathEnd;
}

/** Sorts the probes of a measurement by hop, and finds out how the path ends. */
export function hopsOf(plan: RoundsPlan, { probes, lastHop, errno }: RoundsResult): PathHops {
  const all = byHop(plan, probes, lastHop ?? plan.maxHops);
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

function byHop(plan: RoundsPlan, probes: readonly SentProbe[], last: number): PathHop[] {
  return Array.from({ length: last }, (_, index) => index + 1).flatMap((hop) => {
    const ours = probes.filter((probe) => probe.hop === hop);
    const answered = ours.flatMap(({ answer }) => (answer === null ? [] : [answer]));
    const found = ours.slice(0, plan.rounds).map(({ answer }) => probeOf(answer));
    // Asked again alone because an earlier answer did not state its probe.
    const alone = ours[plan.rounds]?.answer ?? null;
    if (alone !== null) found[0] = probeOf(alone);
    if (found.length === 0) return [];
    // Hosts limit how many such errors they send: probes that went beyond the destination got their answers in place of these.
    const beyond = plan.protocol === 'udp' && hop === last && answered.some((answer) => hasReached(plan, answer));
    return [{ hop, probes: beyond ? filled(plan, found, probes, hop) : found }];
  });
}

function filled(plan: RoundsPlan, found: readonly PathProbe[], probes: readonly SentProbe[], hop: number): PathProbe[] {
  const spare = probes.filter(({ answer, hop: other }) => other > hop && answer !== null && hasReached(plan, answer));
  return found.map((probe) => (probe.kind === 'none' ? probeOf(spare.shift()?.answer ?? null) : probe));
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
