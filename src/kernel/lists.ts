/** Makes one of lists that have the same items in the same order, as thousands of targets have the same nodes. They must not be changed. */
export class ListPool<Item> {
  /** By their length, the last ones. */
  readonly #lists: (readonly Item[])[] = [];

  /** The list that was given last of this length if it is equal, otherwise this one. */
  shared(list: readonly Item[]): readonly Item[] {
    const known = this.#lists[list.length];
    if (known !== undefined && isSameList(known, list)) return known;
    this.#lists[list.length] = list;
    return list;
  }
}

/** Whether lists have the very same items in the same order. */
export function isSameList<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

/** A list of this length that takes no more room than it needs, as one that grows does. */
export function listOf<Item>(length: number, item: Item): Item[] {
  return Array.from({ length }, () => item);
}
