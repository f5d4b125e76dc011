import type { DueSpan } from '#protocol/watching.ts';

// Rounds of an earlier time are over.
const keptMs = 600_000;
const mostSpans = 200;

/** When results of which nodes were skipped because this process is overloaded: what is missing of them is not the fault of the node. */
export class ShedSpans {
  readonly #spans = new Map<string, DueSpan[]>();

  /** Results of a node that were due then were skipped, or are read only after later ones. `now` in milliseconds since the epoch. */
  add(node: string, { from, until }: DueSpan, now: number): void {
    const kept: DueSpan[] = [];
    const whole = { from, until };
    for (const span of this.#spans.get(node) ?? []) {
      if (span.until <= now - keptMs) continue;
      if (span.from <= until && span.until >= from) {
        whole.from = Math.min(whole.from, span.from);
        whole.until = Math.max(whole.until, span.until);
      } else kept.push(span);
    }
    kept.push(whole);
    this.#spans.set(node, kept.length > mostSpans ? kept.slice(-mostSpans) : kept);
  }

  /** Whether a result of this node that was due then may have been skipped. */
  has(node: string, dueAt: number): boolean {
    for (const { from, until } of this.#spans.get(node) ?? []) if (from <= dueAt && dueAt <= until) return true;
    return false;
  }
}
