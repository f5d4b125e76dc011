import { ListPool } from '#kernel/lists.ts';
import type { Vote } from '#monitor/judge/vote.ts';

const nodeLists = new ListPool<string>();

/** What each node saw last of one target: lists, because there may be hundreds of thousands of these pairs. */
export class LastOfNodes {
  #nodes: readonly string[] = [];
  /** Of each node: 1 for up, 0 for down, -1 if it could not tell. */
  #states: number[] = [];
  /** Of each node: seconds, NaN for none. A list that begins with a whole number would hold every other one as an object. */
  #seconds: number[] = [];

  record(node: string, { status, seconds }: Pick<Vote['outcome'], 'status' | 'seconds'>): void {
    let index = this.#nodes.indexOf(node);
    if (index < 0) {
      index = this.#nodes.length;
      // Neither in place nor by spreading: such a list takes room for sixteen more, and `concat` for what it has.
      this.#nodes = nodeLists.shared(this.#nodes.concat(node));
      this.#states = this.#states.concat(-1);
      this.#seconds = this.#seconds.concat(Number.NaN);
    }
    this.#states[index] = status === 'unknown' ? -1 : Number(status === 'up');
    this.#seconds[index] = seconds ?? Number.NaN;
  }

  /** Forgets other nodes than these. */
  keepNodes(names: ReadonlySet<string>): void {
    if (this.#nodes.every((node) => names.has(node))) return;
    const kept = this.#nodes.flatMap((node, index) => (names.has(node) ? index : []));
    this.#nodes = kept.map((index) => this.#nodes[index] ?? '');
    this.#states = kept.map((index) => this.#states[index] ?? -1);
    this.#seconds = kept.map((index) => this.#seconds[index] ?? Number.NaN);
  }

  /** How many nodes are known: each has an index from 0 on. */
  get count(): number {
    return this.#nodes.length;
  }

  nodeAt(index: number): string {
    return this.#nodes[index] ?? '';
  }

  /** Whether it was up, as 1 or 0; null if the node could not tell. */
  stateAt(index: number): number | null {
    const state = this.#states[index] ?? -1;
    return state < 0 ? null : state;
  }

  /** How long it took, in seconds; null if the check had no duration. */
  secondsAt(index: number): number | null {
    const seconds = this.#seconds[index] ?? Number.NaN;
    return Number.isNaN(seconds) ? null : seconds;
  }
}
