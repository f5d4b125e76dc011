import type { Vote } from '#monitor/judge/vote.ts';

/** What each node saw last of one target: lists, because there may be hundreds of thousands of these pairs. */
export class LastOfNodes {
  #nodes: readonly string[] = [];
  /** Of each node: 1 for up, 0 for down, -1 if it could not tell. */
  #states: number[] = [];
  /** Of each node: seconds, -1 for none. */
  #seconds: number[] = [];

  record(node: string, { status, seconds }: Pick<Vote['outcome'], 'status' | 'seconds'>): void {
    let index = this.#nodes.indexOf(node);
    if (index < 0) {
      index = this.#nodes.length;
      // Neither in place nor by spreading: such a list takes room for sixteen more, and `concat` for what it has.
      this.#nodes = this.#nodes.concat(node);
      this.#states = this.#states.concat(-1);
      this.#seconds = this.#seconds.concat(-1);
    }
    this.#states[index] = status === 'unknown' ? -1 : Number(status === 'up');
    this.#seconds[index] = seconds ?? -1;
  }

  /** Forgets other nodes than these. */
  keepNodes(names: ReadonlySet<string>): void {
    if (this.#nodes.every((node) => names.has(node))) return;
    const kept = this.#nodes.flatMap((node, index) => (names.has(node) ? index : []));
    this.#nodes = kept.map((index) => this.#nodes[index] ?? '');
    this.#states = kept.map((index) => this.#states[index] ?? -1);
    this.#seconds = kept.map((index) => this.#seconds[index] ?? -1);
  }

  /** Whether it was up, as 1 or 0, for the nodes that could tell. */
  *states(): Generator<readonly [node: string, up: number]> {
    yield* this.#known(this.#states);
  }

  /** How long it took, in seconds, for the nodes whose check had a duration. */
  *seconds(): Generator<readonly [node: string, seconds: number]> {
    yield* this.#known(this.#seconds);
  }

  *#known(values: readonly number[]): Generator<readonly [node: string, value: number]> {
    for (const [index, node] of this.#nodes.entries()) {
      const value = values[index];
      if (value !== undefined && value >= 0) yield [node, value];
    }
  }
}
