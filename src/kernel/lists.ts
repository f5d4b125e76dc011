/** A list of this length that takes no more room than it needs, as one that grows does. */
export function listOf<Item>(length: number, item: Item): Item[] {
  return Array.from({ length }, () => item);
}
