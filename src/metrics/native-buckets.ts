const finest = 3;
const most = 160;

/**
 * The buckets of a native histogram, as far as anything fell into them. Those of schema `s` end at the powers of 2^(2^-s): 9% apart at
 * first. Where values lie so far apart that there would be more than 160, neighbours are put together.
 */
export class NativeBuckets {
  #schema = finest;
  #zeros = 0;
  // In order; the bucket `i` takes what is above base^(i-1), up to base^i.
  #indexes: number[] = [];
  #counts: number[] = [];

  get schema(): number {
    return this.#schema;
  }

  /** How many values were 0. */
  get zeros(): number {
    return this.#zeros;
  }

  get indexes(): readonly number[] {
    return this.#indexes;
  }

  get counts(): readonly number[] {
    return this.#counts;
  }

  observe(value: number): void {
    if (!(value > 0)) {
      this.#zeros += 1;
      return;
    }
    const index = Math.ceil(Math.log2(value) * 2 ** this.#schema);
    const place = this.#placeOf(index);
    if (this.#indexes[place] === index) {
      this.#counts[place] = (this.#counts[place] ?? 0) + 1;
      return;
    }
    // Seldom, and lists that grow in place would take room for sixteen more.
    this.#indexes = this.#indexes.toSpliced(place, 0, index);
    this.#counts = this.#counts.toSpliced(place, 0, 1);
    if (this.#indexes.length > most) this.#coarsen();
  }

  #placeOf(index: number): number {
    let low = 0;
    let high = this.#indexes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#indexes[middle] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #coarsen(): void {
    const merged = new Map<number, number>();
    for (const [place, index] of this.#indexes.entries()) {
      const next = Math.ceil(index / 2);
      merged.set(next, (merged.get(next) ?? 0) + (this.#counts[place] ?? 0));
    }
    this.#schema -= 1;
    this.#indexes = [...merged.keys()];
    this.#counts = [...merged.values()];
  }
}
