import type { Outcome } from '#checks/index.ts';

/** How the echoes of a round came back: their times in seconds, null if all were lost, and the share that was lost. */
export interface Spread {
  readonly dueAt: number;
  readonly loss: number;
  readonly least: number | null;
  readonly mean: number | null;
  readonly most: number | null;
}

/** What a node found, if its check sends several echoes. */
export function spreadOf({ facts }: Outcome, dueAt: number): Spread | null {
  const { loss, rtt_min: least = null, rtt_mean: mean = null, rtt_max: most = null } = facts;
  return loss === undefined ? null : { dueAt, loss, least, mean, most };
}

const fields = 4;

/** The last spreads of a node, in a few bytes each. */
export class SpreadRing {
  readonly #values: Float32Array;
  readonly #dues: Float64Array;
  #next = 0;
  #count = 0;

  constructor(length: number) {
    this.#values = new Float32Array(length * fields);
    this.#dues = new Float64Array(length);
  }

  add({ dueAt, loss, least, mean, most }: Spread): void {
    this.#dues[this.#next] = dueAt;
    this.#values.set([loss, least ?? Number.NaN, mean ?? Number.NaN, most ?? Number.NaN], this.#next * fields);
    this.#next = (this.#next + 1) % this.#dues.length;
    this.#count = Math.min(this.#count + 1, this.#dues.length);
  }

  /** The oldest first. */
  list(): readonly Spread[] {
    const length = this.#dues.length;
    return Array.from({ length: this.#count }, (_, index) => {
      const at = (this.#next - this.#count + index + length) % length;
      const [loss = 0, ...times] = this.#values.subarray(at * fields, (at + 1) * fields);
      const [least = null, mean = null, most = null] = times.map((time) => (Number.isNaN(time) ? null : time));
      return { dueAt: this.#dues[at] ?? 0, loss, least, mean, most };
    });
  }
}
