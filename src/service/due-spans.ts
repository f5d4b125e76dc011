import type { DueSpan } from '#protocol/watching.ts';

// Rounds of an earlier time are over.
const keptMs = 600_000;
const mostSpans = 200;

/** Of which due times results of which nodes were left out: a missing one has a reason then. */
export class DueSpans {
  /** Of each node, in order of time; no two of them overlap. */
  readonly #spans = new Map<string, DueSpan[]>();

  /** Results of a node that were due then were left out. `now` in milliseconds since the epoch. */
  add(node: string, { from, until }: DueSpan, now: number): void {
    const spans = this.#spans.get(node) ?? [];
    if (spans.length === 0) this.#spans.set(node, spans);
    const begin = firstWhere(spans, (span) => span.until >= from);
    let end = begin;
    const whole = { from, until };
    for (let span = spans[end]; span !== undefined && span.from <= until; span = spans[end]) {
      whole.from = Math.min(whole.from, span.from);
      whole.until = Math.max(whole.until, span.until);
      end += 1;
    }
    spans.splice(begin, end - begin, whole);
    const over = firstWhere(spans, (span) => span.until > now - keptMs);
    const surplus = Math.max(over, spans.length - mostSpans);
    if (surplus > 0) spans.splice(0, surplus);
  }

  /** Whether a result of this node that was due then may have been left out. */
  has(node: string, dueAt: number): boolean {
    // An overloaded process asks this for each node of hundreds of rounds a second.
    const spans = this.#spans.get(node);
    if (spans === undefined) return false;
    const span = spans[firstWhere(spans, ({ until }) => until >= dueAt)];
    return span !== undefined && span.from <= dueAt;
  }
}

// The index of the first span of which this is true, if it is true of all after it: their number if it is of none.
function firstWhere(spans: readonly DueSpan[], isSo: (span: DueSpan) => boolean): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const span = spans[middle];
    if (span !== undefined && isSo(span)) high = middle;
    else low = middle + 1;
  }
  return low;
}
