import type { Clock } from '#kernel/clock.ts';

const logEveryMs = 60_000;

/** Logs something about a node: at once, then the count of a minute in one line. */
export function createRareLog(clock: Clock, write: (node: string, count: number, reason: string) => void) {
  const nodes = new Map<string, { since: number; more: number }>();
  return (node: string, count: number, reason: string): void => {
    const known = nodes.get(node);
    if (known !== undefined && clock.elapsed() - known.since < logEveryMs) {
      known.more += count;
      return;
    }
    write(node, count + (known?.more ?? 0), reason);
    nodes.set(node, { since: clock.elapsed(), more: 0 });
  };
}
