import type { Clock } from '#kernel/clock.ts';

/** How late the target is that has waited longest for its round. */
export function createOverdue(clock: Clock) {
  const expected = new Map<string, number>();
  return {
    expect: (target: string, dueAt: number) => void expected.set(target, dueAt),
    forget: (target: string) => void expected.delete(target),
    ms(): number {
      let oldest = Number.POSITIVE_INFINITY;
      for (const dueAt of expected.values()) oldest = Math.min(oldest, dueAt);
      return Math.max(0, clock.now() - oldest);
    },
  };
}
