import { countTimes, isSameButForTimes, type NodeInfo, type Outcome, putTimes, withTimes } from '#checks/index.ts';
import { listOf } from '#kernel/lists.ts';
import type { NodeOutcome } from './runs.ts';

/**
 * The votes of a round that is not over. They wait for those of other nodes for a second or more, in which V8 would make all of their
 * objects old ones: a healthy one is a few numbers here, and an outcome that it shares with others of its round.
 */
export class OpenRound {
  readonly dueAt: number;
  readonly #nodes: (NodeInfo | null)[];
  readonly #outcomes: (Outcome | null)[];
  /** Of each: when it began, and the times of its outcome. */
  #times: number[] = [];
  #count = 0;
  #timesCount = 0;

  /** `expected` is how many votes may come: lists that grow take room for sixteen more each time. */
  constructor(dueAt: number, expected: number) {
    this.dueAt = dueAt;
    this.#nodes = listOf(expected, null);
    this.#outcomes = listOf(expected, null);
  }

  has(node: string): boolean {
    for (let index = 0; index < this.#count; index += 1) if (this.#nodes[index]?.name === node) return true;
    return false;
  }

  add(node: NodeInfo, outcome: Outcome, startedAt: number): void {
    const first = this.#outcomes[0] ?? null;
    if (first === null) this.#times = listOf(this.#outcomes.length * (1 + countTimes(outcome)), Number.NaN);
    this.#nodes[this.#count] = node;
    this.#outcomes[this.#count] = first !== null && isSameButForTimes(first, outcome) ? first : outcome;
    this.#count += 1;
    this.#times[this.#timesCount] = startedAt;
    this.#timesCount = putTimes(outcome, this.#times, this.#timesCount + 1);
  }

  /** The votes with all details, made anew each time. */
  votes(): Map<string, NodeOutcome> {
    const votes = new Map<string, NodeOutcome>();
    let at = 0;
    const nextTime = () => this.#times[at++] ?? Number.NaN;
    for (let index = 0; index < this.#count; index += 1) {
      const [node = null, known = null] = [this.#nodes[index], this.#outcomes[index]];
      if (node === null || known === null) continue;
      const startedAt = nextTime();
      votes.set(node.name, { node, outcome: withTimes(known, nextTime), startedAt });
    }
    return votes;
  }
}
