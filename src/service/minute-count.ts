import type { Clock } from '#kernel/clock.ts';

export const minuteMs = 60_000;
const slotsKept = 6;

/** How much of something there was within the last minute. */
export interface MinuteCount {
  add(count: number): void;
  sum(): number;
}

export function createMinuteCount(clock: Clock, countedMs = minuteMs): MinuteCount {
  const slotMs = countedMs / slotsKept;
  const slots = new Map<number, number>();
  const slotNow = () => Math.floor(clock.elapsed() / slotMs);
  return {
    add: (count: number) => void slots.set(slotNow(), (slots.get(slotNow()) ?? 0) + count),
    sum(): number {
      let sum = 0;
      for (const [slot, count] of slots) {
        if (slot <= slotNow() - slotsKept) slots.delete(slot);
        else sum += count;
      }
      return sum;
    },
  };
}
