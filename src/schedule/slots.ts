import { createNextDue, type Schedule, type Slots } from './schedule.ts';

// Ten a second have half a second, five hundred ten milliseconds.
const widths = [1_000, 500, 200, 100, 50, 20] as const;
const finest = 10;
/** All widths that there may be, in milliseconds. */
export const slotWidths: readonly number[] = [...widths, finest];
// A node starts eight in one go, and by chance there are more in one slot than in another.
const wantedInSlot = 6;

/** How wide slots are best, in milliseconds, if so many due times come in a second: several of them share one, and no burst comes of it. */
export function widthFor(perSecond: number): number {
  return widths.find((ms) => (perSecond * ms) / 1_000 <= wantedInSlot) ?? finest;
}

/** How many due times a second has, on the average. */
export function rateOf(schedule: Schedule, target: string, now: number): number {
  if (schedule.kind === 'every') return 1_000 / schedule.everyMs;
  const next = createNextDue(schedule, target);
  const first = next(now);
  const second = first === null ? null : next(first);
  return first === null || second === null ? 0 : 1_000 / (second - first);
}

// So long a new width takes to reach all nodes.
const afterMs = 30_000;

/** The next widths: one that is announced and does not apply yet is not replaced, because due times until then are cut by it. */
export function nextSlots(current: Slots | null, ms: number, now: number): Slots {
  if (current === null) return { ms, since: 0, beforeMs: ms };
  return current.ms === ms || now <= current.since ? current : { ms, since: now + afterMs, beforeMs: current.ms };
}
