import type { NodeOutcome } from './runs.ts';

// Five minutes of a target that is checked every second; the oldest rounds go first.
const mostRounds = 300;

/** The votes of rounds of one target that ended without a verdict, oldest round first. */
export class UndecidedRounds {
  readonly #votes = new Map<number, Map<string, NodeOutcome>>();
  readonly #reopened = new Set<number>();

  /** Due times of the rounds that have new votes. */
  get reopened(): Iterable<number> {
    return this.#reopened;
  }

  get isEmpty(): boolean {
    return this.#votes.size === 0;
  }

  /** Keeps the votes of a round that ended. */
  keep(dueAt: number, votes: ReadonlyMap<string, NodeOutcome>): void {
    this.#votes.set(dueAt, new Map(votes));
    for (const oldest of this.#votes.keys()) {
      if (this.#votes.size <= mostRounds) return;
      if (!this.#reopened.has(oldest)) this.#votes.delete(oldest);
    }
  }

  /** Adds a vote that came later. It is `late` if the round had this node's vote when it ended, or when it was judged again. */
  add(dueAt: number, vote: NodeOutcome): 'reopened' | 'repeated' | 'late' {
    const votes = this.#votes.get(dueAt) ?? new Map<string, NodeOutcome>();
    if (votes.has(vote.node.name)) return this.#reopened.has(dueAt) ? 'repeated' : 'late';
    votes.set(vote.node.name, vote);
    this.#votes.set(dueAt, votes);
    this.#reopened.add(dueAt);
    return 'reopened';
  }

  /** The votes of a round that had new ones; it waits no longer. Undefined if it had none. */
  close(dueAt: number): ReadonlyMap<string, NodeOutcome> | undefined {
    return this.#reopened.delete(dueAt) ? this.#votes.get(dueAt) : undefined;
  }

  dropUntil(moment: number): void {
    for (const dueAt of this.#votes.keys()) {
      if (dueAt > moment) continue;
      this.#votes.delete(dueAt);
      this.#reopened.delete(dueAt);
    }
  }
}
