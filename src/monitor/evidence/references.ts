import { checkOf, formatHostPort } from '#checks/index.ts';
import type { Target } from '../judge/target.ts';
import type { Vote } from '../judge/vote.ts';

/** A healthy target: whether a node still reaches it shows whether the node itself is connected. */
export interface EvidenceReference {
  /** The name of the target. */
  readonly name: string;
  /** Where it takes TCP connections: `host:port`. */
  readonly host: string;
}

/** Knows for each node some targets that it reached, and that are up as far as most other nodes see. */
export interface References {
  roundDone(target: Target, votes: readonly Vote[]): void;
  /** At most two, on other hosts than the target and than each other, those reached last first. */
  choose(node: string, target: Target): readonly EvidenceReference[];
}

interface Candidate {
  readonly target: Target;
  readonly hostName: string;
  readonly host: string;
  /** Where the node reached it. */
  readonly address: string | null;
}

const mostChosen = 2;
const mostKnown = 16;

/**
 * `isWatched` says whether a target is still configured as it was. It says the same as long as `configuration` gives the same object.
 */
export function createReferences(isWatched: (target: Target) => boolean, configuration: () => object): References {
  // By node and target, the one that was reached last at the end.
  const known = new Map<string, Map<string, Candidate>>();
  // By node: under this configuration all of as many as are known are still there.
  const fullUnder = new Map<string, object>();

  // Whether one went that is configured no more. Asked with each vote on a target that is none of them.
  function makeRoom(node: string, candidates: Map<string, Candidate>): boolean {
    const inForce = configuration();
    if (fullUnder.get(node) === inForce) return false;
    for (const [name, { target }] of candidates) if (!isWatched(target)) return candidates.delete(name);
    fullUnder.set(node, inForce);
    return false;
  }

  return {
    roundDone(target, votes) {
      for (const { node, outcome } of votes) {
        if (outcome.status !== 'up') continue;
        const candidates = known.get(node.name) ?? new Map<string, Candidate>();
        known.set(node.name, candidates);
        const before = candidates.get(target.name);
        if (before === undefined && candidates.size >= mostKnown && !makeRoom(node.name, candidates)) continue;
        const place = before?.target === target ? before : placeOf(target);
        if (place === null) continue;
        if (before?.target !== target) fullUnder.delete(node.name);
        candidates.delete(target.name);
        candidates.set(target.name, { ...place, address: outcome.address });
      }
      if (votes.every(({ outcome }) => outcome.status === 'up')) return;
      for (const [node, candidates] of known) if (!isUpElsewhere(node, votes)) candidates.delete(target.name);
    },
    choose(node, { name, spec }) {
      const hostNames = new Set([checkOf(spec.type).evidence(spec)?.name]);
      const addresses = new Set<string>();
      const chosen: EvidenceReference[] = [];
      for (const candidate of [...(known.get(node)?.values() ?? [])].toReversed()) {
        const { target, hostName, host, address } = candidate;
        if (chosen.length === mostChosen) break;
        if (target.name === name || hostNames.has(hostName) || !isWatched(target)) continue;
        if (address !== null && addresses.has(address)) continue;
        hostNames.add(hostName);
        if (address !== null) addresses.add(address);
        chosen.push({ name: target.name.slice(0, 200), host });
      }
      return chosen;
    },
  };
}

// A node that is alone has only its own eyes.
function isUpElsewhere(node: string, votes: readonly Vote[]): boolean {
  const count = (wanted: string) =>
    votes.filter((vote) => vote.node.name !== node && vote.outcome.status === wanted).length;
  const [ups, downs] = [count('up'), count('down')];
  const own = votes.find((vote) => vote.node.name === node)?.outcome.status;
  return ups + downs === 0 ? own !== 'down' : ups > 0 && ups >= downs;
}

// Null without a TCP port that it is checked at.
function placeOf(target: Target): Omit<Candidate, 'address'> | null {
  const plan = checkOf(target.spec.type).evidence(target.spec);
  const port = plan?.path?.protocol === 'tcp' ? plan.path.port : null;
  if (plan === null || port === null) return null;
  return { target, hostName: plan.name, host: formatHostPort(plan.name, port) };
}
