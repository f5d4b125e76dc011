/** Where an item stands in a sequence. */
export interface SequenceEntry {
  /** Takes the item out. Idempotent. */
  leave(): void;
}

/**
 * Items in the order in which they came, each of which may leave at any time. A `Set` does that too, but the table that it outgrows
 * refers to the next one until all memory is collected, and so keeps alive whatever stood in any of them: of what comes and goes
 * thousands of times a second nothing would be forgotten while it is new.
 */
export class Sequence<Item> {
  #first: Link<Item> | null = null;
  #last: Link<Item> | null = null;
  #size = 0;

  add(item: Item): SequenceEntry {
    const link: Link<Item> = { item, before: this.#last, after: null, leave: () => this.#remove(link) };
    if (this.#last === null) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
    this.#size += 1;
    return link;
  }

  /** The one that has stood here the longest. */
  get first(): Item | null {
    return this.#first?.item ?? null;
  }

  /** Takes out the first, if there is one. */
  shift(): void {
    this.#first?.leave();
  }

  get size(): number {
    return this.#size;
  }

  /** The first that `isIt`, or null. */
  find(isIt: (item: Item) => boolean): Item | null {
    for (let link = this.#first; link !== null; link = link.after) {
      if (link.item !== null && isIt(link.item)) return link.item;
    }
    return null;
  }

  /** All of them as they stand now. */
  items(): readonly Item[] {
    const items: Item[] = [];
    for (let link = this.#first; link !== null; link = link.after) if (link.item !== null) items.push(link.item);
    return items;
  }

  // Nothing refers to others from what has left.
  #remove(link: Link<Item>): void {
    if (link.item === null) return;
    const { before, after } = link;
    if (before === null) this.#first = after;
    else before.after = after;
    if (after === null) this.#last = before;
    else after.before = before;
    link.item = null;
    link.before = null;
    link.after = null;
    this.#size -= 1;
  }
}

interface Link<Item> extends SequenceEntry {
  /** Null once it has left. */
  item: Item | null;
  before: Link<Item> | null;
  after: Link<Item> | null;
}
