import type { DueSpan } from '#protocol/watching.ts';

// Rounds of an earlier time are over.
const keptMs = 600_000;
const mostSpans = 200;

/** When results of which nodes were skipped because this process is overloaded: what is missing of them is not the fault of the node. */
export class ShedSpans {
  readonly #spans = new Map<string, DueSpan[]>();

  /** Results of a node that were due then were skipped, or are read only after later ones. `now` in milliseconds since the epoch. */
  add(node: string, { from, until }: DueSpan, now: number): void {
    const kept = (this.#spans.get(node) ?? []).filter((span) => span.until > now - keptMs);
    const touching = kept.filter((span) => span.from <= until && span.until >= from);
    const others = kept.filter((span) => !touching.includes(span)).slice(1 - mostSpans);
    const all = [...touching, { from, until }];
    const whole = {
      from: Math.min(...all.map((span) => span.from)),
      until: Math.max(...all.map((span) => span.until)),
    };
    this.#spans.set(node, [...others, whole]);
  }

  /** Whether a result of this node that was due then may have been skipped. */
  has(node: string, dueAt: number): boolean {
    for (const { from, until } of this.#spans.get(node) ?? []) if (from <= dueAt && dueAt <= until) return true;
    return false;
  }
}
