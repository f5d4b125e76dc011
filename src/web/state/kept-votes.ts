import {
  isSameButForTimes,
  type NodeInfo,
  type Outcome,
  putTimes,
  type UpOutcome,
  withoutTimes,
  withTimes,
} from '#checks/index.ts';
import { ListPool } from '#kernel/lists.ts';
import type { Vote } from '#monitor/judge/vote.ts';

/** The votes of the last round of a target, which is another one when the next is done. */
export interface LiveVotes {
  readonly length: number;
  /** With all details, made anew each time. */
  list(): readonly Vote[];
  /** Who saw what, made anew each time. */
  statuses(): readonly { readonly node: NodeInfo; readonly status: Outcome['status'] }[];
}

const nodeLists = new ListPool<NodeInfo>();
// Of whichever target: most have the same phases.
let newest: UpOutcome<unknown> | null = null;

/**
 * The votes of the last round of a target. What is new in a healthy one are a few numbers, which are written over those of the round
 * before: a hundred thousand votes that each live until the next round would otherwise be most of what is to be collected as garbage.
 */
export class KeptVotes implements LiveVotes {
  #nodes: readonly NodeInfo[] = [];
  /** Of each: its outcome, or one of this or an earlier round that is as it but for the times. */
  #outcomes: Outcome[] = [];
  /** Of each: when it began, and if it is up how long it took and its phases. NaN if unknown. */
  #times: number[] = [];

  keep(votes: readonly Vote[]): void {
    if (!this.#isOfSameNodes(votes)) this.#nodes = nodeLists.shared(votes.map(({ node }) => node));
    // A list that grows takes room for sixteen more.
    if (this.#outcomes.length !== votes.length) this.#outcomes = votes.map(({ outcome }) => keptOf(outcome));
    const before = this.#times.length;
    let at = 0;
    let index = 0;
    for (const { outcome, startedAt } of votes) {
      this.#outcomes[index] = this.#oneLike(outcome, index);
      index += 1;
      this.#times[at] = startedAt ?? Number.NaN;
      at = putTimes(outcome, this.#times, at + 1);
    }
    if (before !== at) this.#times = this.#times.slice(0, at);
  }

  #isOfSameNodes(votes: readonly Vote[]): boolean {
    if (this.#nodes.length !== votes.length) return false;
    for (let index = 0; index < votes.length; index += 1) if (votes[index]?.node !== this.#nodes[index]) return false;
    return true;
  }

  // Most nodes have the same outcome as the first one.
  #oneLike(outcome: Outcome, index: number): Outcome {
    const [first] = this.#outcomes;
    if (first !== undefined && isSameButForTimes(first, outcome)) return first;
    const own = this.#outcomes[index];
    return own !== undefined && isSameButForTimes(own, outcome) ? own : keptOf(outcome);
  }

  get length(): number {
    return this.#nodes.length;
  }

  statuses(): ReturnType<LiveVotes['statuses']> {
    return this.#nodes.map((node, index) => ({ node, status: this.#outcomes[index]?.status ?? 'unknown' }));
  }

  list(): readonly Vote[] {
    let at = 0;
    const next = () => this.#times[at++] ?? Number.NaN;
    return this.#outcomes.flatMap((known, index) => {
      const node = this.#nodes[index];
      const startedAt = next();
      const outcome = withTimes(known, next);
      if (node === undefined) return [];
      return [Number.isNaN(startedAt) ? { node, outcome } : { node, outcome, startedAt }];
    });
  }
}

function keptOf(outcome: Outcome): Outcome {
  if (outcome.status !== 'up') return outcome;
  return (newest = withoutTimes(newest ?? outcome, outcome));
}
