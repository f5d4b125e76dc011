import type { NodeInfo } from '#checks/index.ts';
import { ListPool } from '#kernel/lists.ts';
import type { Vote } from '../judge/vote.ts';

/** A node that is trusted no more, or again. */
export interface TrustChange {
  readonly kind: 'suspected' | 'trusted';
  readonly node: NodeInfo;
  /** The first round of those that led to it. */
  readonly since: number;
  /** The targets that led to it. */
  readonly targets: readonly string[];
}

export interface ObservedRound {
  readonly target: string;
  readonly host: string;
  readonly dueAt: number;
  readonly votes: readonly Vote[];
}

/**
 * Which nodes cannot be believed. A node is suspected when its last votes on all its targets (ten are enough, three is the
 * least, at three hosts or more) were down while most of the others saw them up, with nothing up in between; a target that
 * another node sees down as well since is not among them. It is trusted again once its last votes on three targets, or on all
 * if it has fewer, agreed with the others.
 */
export interface Quarantine {
  /** The names of the suspected nodes. */
  readonly suspected: ReadonlySet<string>;
  observe(round: ObservedRound): readonly TrustChange[];
  /** Takes a node for suspected that was so before the program was started. */
  restore(node: string): void;
  /** A target that is not watched any more, or is another one now. */
  forget(target: string): void;
}

const enoughTargets = 10;
const fewestTargets = 3;
const fewestHosts = 3;

interface NodeRecord {
  /** On how many targets it gave a vote. */
  targets: number;
  /** Down where others see up, without an up vote in between; what others see down as well since is not among them. */
  readonly alone: Map<string, { readonly host: string; readonly at: number }>;
  /** Of a suspected node: in agreement with the others, without a vote against them in between. */
  readonly agreed: Map<string, number>;
  /** How many votes that were: after a restart not all of its targets are known. */
  agreements: number;
}

const none: readonly TrustChange[] = [];
const noVoters: readonly NodeRecord[] = [];

export function createQuarantine(): Quarantine {
  const suspected = new Set<string>();
  const records = new Map<string, NodeRecord>();
  /** Of each target, who gave a vote on it: for each vote there is one look at a short list. */
  const voters = new Map<string, readonly NodeRecord[]>();
  const lists = new ListPool<NodeRecord>();

  function recordOf(node: string): NodeRecord {
    let known = records.get(node);
    if (known === undefined)
      records.set(node, (known = { targets: 0, alone: new Map(), agreed: new Map(), agreements: 0 }));
    return known;
  }

  function addVoter(target: string, record: NodeRecord): void {
    const known = voters.get(target) ?? noVoters;
    if (known.includes(record)) return;
    voters.set(target, lists.shared(known.concat(record)));
    record.targets += 1;
  }

  // `othersLead` is by how many more of the others see it up than down.
  function take(
    { target, host, dueAt, votes }: ObservedRound,
    voted: readonly NodeRecord[],
    vote: Vote,
    othersLead: number,
  ): TrustChange | null {
    const { node, outcome } = vote;
    if (outcome.status === 'unknown') return null;
    const record = recordOf(node.name);
    if (!voted.includes(record)) addVoter(target, record);
    const othersSeeUp = othersLead > 0;
    if (outcome.status === 'up') {
      if (record.alone.size > 0) record.alone.clear();
      if (othersSeeUp && suspected.has(node.name)) {
        record.agreed.set(target, dueAt);
        record.agreements += 1;
      }
    } else if (othersSeeUp) {
      record.alone.set(target, { host, at: dueAt });
      record.agreed.clear();
      record.agreements = 0;
    } else if (votes.some((other) => other !== vote && leadOf(other) < 0)) record.alone.delete(target);
    return judge(node, record);
  }

  // By how many more of those that are believed see it up than down.
  function leadIn(votes: readonly Vote[]): number {
    let sum = 0;
    for (const vote of votes) sum += leadOf(vote);
    return sum;
  }

  function leadOf({ node, outcome }: Vote): number {
    if (outcome.status === 'unknown' || suspected.has(node.name)) return 0;
    return outcome.status === 'up' ? 1 : -1;
  }

  function judge(node: NodeInfo, record: NodeRecord): TrustChange | null {
    const { targets, alone, agreed } = record;
    if (suspected.has(node.name)) {
      if (record.agreements < fewestTargets || agreed.size < Math.min(fewestTargets, targets)) return null;
      suspected.delete(node.name);
      const targetsAgreed = [...agreed.keys()];
      const since = Math.min(...agreed.values());
      agreed.clear();
      return { kind: 'trusted', node, since, targets: targetsAgreed };
    }
    const needed = Math.max(fewestTargets, Math.min(enoughTargets, targets));
    if (alone.size < needed) return null;
    const hosts = new Set([...alone.values()].map(({ host }) => host));
    if (hosts.size < fewestHosts) return null;
    suspected.add(node.name);
    agreed.clear();
    record.agreements = 0;
    const since = Math.min(...[...alone.values()].map(({ at }) => at));
    return { kind: 'suspected', node, since, targets: [...alone.keys()] };
  }

  return {
    suspected,
    observe(round) {
      let changes: TrustChange[] | null = null;
      let lead = leadIn(round.votes);
      const voted = voters.get(round.target) ?? noVoters;
      for (const vote of round.votes) {
        const change = take(round, voted, vote, lead - leadOf(vote));
        if (change === null) continue;
        (changes ??= []).push(change);
        lead = leadIn(round.votes);
      }
      return changes ?? none;
    },
    restore: (node) => void suspected.add(node),
    forget(target) {
      for (const record of voters.get(target) ?? []) record.targets -= 1;
      voters.delete(target);
      for (const { alone, agreed } of records.values()) {
        alone.delete(target);
        agreed.delete(target);
      }
    },
  };
}
