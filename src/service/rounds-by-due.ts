/** A round, or what belongs to one, by when it was due. */
interface DueItem {
  readonly dueAt: number;
}

/**
 * What a target has for each of its rounds that are not over: nearly always for one, which takes no map that would be filled and
 * emptied with each round; after an absence for thousands.
 */
export class RoundsByDue<Item extends DueItem> {
  #one: Item | null = null;
  #others: Map<number, Item> | null = null;

  get isEmpty(): boolean {
    return this.#one === null && this.#others === null;
  }

  /** When the first of them was due; infinity if there is none. */
  get firstDueAt(): number {
    let first = this.#one?.dueAt ?? Number.POSITIVE_INFINITY;
    if (this.#others !== null) for (const dueAt of this.#others.keys()) if (dueAt < first) first = dueAt;
    return first;
  }

  find(dueAt: number): Item | undefined {
    return this.#one?.dueAt === dueAt ? this.#one : this.#others?.get(dueAt);
  }

  /** Adds one that is not here yet. */
  add(item: Item): void {
    if (this.#one === null) this.#one = item;
    else (this.#others ??= new Map<number, Item>()).set(item.dueAt, item);
  }

  all(): readonly Item[] {
    return [...(this.#one === null ? [] : [this.#one]), ...(this.#others?.values() ?? [])];
  }

  delete(dueAt: number): void {
    if (this.#one?.dueAt === dueAt) this.#one = null;
    else if (this.#others?.delete(dueAt) === true && this.#others.size === 0) this.#others = null;
  }

  /** Drops those that were due up to a moment. */
  dropUntil(moment: number): void {
    if (this.#one !== null && this.#one.dueAt <= moment) this.#one = null;
    if (this.#others !== null) for (const dueAt of this.#others.keys()) if (dueAt <= moment) this.delete(dueAt);
  }
}
