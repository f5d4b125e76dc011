import type { NodeInfo, Outcome } from '#checks/index.ts';
import type { Vote } from '#monitor/judge/vote.ts';

type Healthy = Extract<Outcome, { status: 'up' }>;

/** The votes of the last round of a target, which is another one when the next is done. */
export interface LiveVotes {
  readonly length: number;
  /** With all details, made anew each time. */
  list(): readonly Vote[];
  /** Who saw what, made anew each time. */
  statuses(): readonly { readonly node: NodeInfo; readonly status: Outcome['status'] }[];
}

/**
 * The votes of the last round of a target. What is new in a healthy one are a few numbers, which are written over those of the round
 * before: a hundred thousand votes that each live until the next round would otherwise be most of what is to be collected as garbage.
 */
export class KeptVotes implements LiveVotes {
  #nodes: NodeInfo[] = [];
  /** Of each: its outcome, or one of this or an earlier round that is as it but for the times. */
  #outcomes: Outcome[] = [];
  /** Of each: when it began, and if it is up how long it took and its phases. NaN if unknown. */
  #times: number[] = [];

  keep(votes: readonly Vote[]): void {
    // A list that grows takes room for sixteen more.
    if (this.#nodes.length !== votes.length) {
      this.#nodes = votes.map(({ node }) => node);
      this.#outcomes = votes.map(({ outcome }) => outcome);
    }
    const before = this.#times.length;
    let at = 0;
    for (const [index, { node, outcome, startedAt }] of votes.entries()) {
      this.#nodes[index] = node;
      this.#outcomes[index] = this.#oneLike(outcome, index);
      at = this.#keepTimes(outcome, startedAt, at);
    }
    if (before !== at) this.#times = this.#times.slice(0, at);
  }

  // Most nodes have the same outcome as the first one.
  #oneLike(outcome: Outcome, index: number): Outcome {
    for (const known of [this.#outcomes[0], this.#outcomes[index]])
      if (known !== undefined && isLike(known, outcome)) return known;
    return outcome;
  }

  #keepTimes(outcome: Outcome, startedAt = Number.NaN, from: number): number {
    const times = this.#times;
    let at = from;
    times[at++] = startedAt;
    if (outcome.status !== 'up') return at;
    times[at++] = outcome.seconds ?? Number.NaN;
    for (const phase of Object.values(outcome.phases)) times[at++] = phase;
    return at;
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
      const outcome = known.status === 'up' ? withTimes(known, next) : known;
      if (node === undefined) return [];
      return [Number.isNaN(startedAt) ? { node, outcome } : { node, outcome, startedAt }];
    });
  }
}

function withTimes({ address, phases, facts, detail }: Healthy, next: () => number): Healthy {
  const seconds = next();
  const times = Object.fromEntries(Object.keys(phases).map((name) => [name, next()]));
  return { status: 'up', seconds: Number.isNaN(seconds) ? null : seconds, address, phases: times, facts, detail };
}

// All but the times is the very same.
function isLike(one: Outcome, other: Outcome): boolean {
  if (one.status !== 'up' || other.status !== 'up') return one === other;
  if (one.address !== other.address || one.facts !== other.facts || one.detail !== other.detail) return false;
  return haveSameNames(one.phases, other.phases);
}

function haveSameNames(one: Healthy['phases'], other: Healthy['phases']): boolean {
  if (one === other) return true;
  const names = Object.keys(one);
  let count = 0;
  for (const name in other) if (names[count++] !== name) return false;
  return count === names.length;
}
