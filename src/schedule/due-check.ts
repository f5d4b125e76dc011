import { createNextDue, type NextDue, type Schedule } from './schedule.ts';
import { slotWidths } from './slots.ts';

/** What a due time may be besides one of the schedule as it is now. */
export interface DueTolerance {
  /** How many milliseconds later it may be: as many as the clock that schedules go by was set back since. */
  readonly laterMs: number;
  /** Whether it may be cut to slots of any width: long ago there may have been another that is not known any more. */
  readonly isLongAgo: boolean;
}

/** Whether a moment, in milliseconds since the epoch, is a due time. */
export type DueCheck = (dueAt: number, tolerance: DueTolerance) => boolean;

// A node that was not reached by then gets it with the next assignment.
const newsTakesMs = 300_000;

/** Tells due times of a target from moments that a node made up. It takes two times as long as finding the next due time. */
export function createDueCheck(schedule: Schedule, target: string): DueCheck {
  const own = createNextDue(schedule, target);
  let others: OtherWidths | null = null;
  return (dueAt, { laterMs, isLongAgo }) => {
    if (!Number.isSafeInteger(dueAt)) return false;
    if (isDue(own, dueAt, laterMs)) return true;
    const { slots } = schedule;
    const isNew = slots !== undefined && Math.abs(dueAt - slots.since) <= newsTakesMs;
    const widths = isLongAgo ? slotWidths : isNew ? [slots.ms, slots.beforeMs] : [];
    others ??= new OtherWidths(schedule, target);
    for (const ms of widths) if (isDue(others.cutBy(ms), dueAt, laterMs)) return true;
    return false;
  };
}

/** The same due times cut to other widths; few targets ever need them. */
class OtherWidths {
  readonly #schedule: Schedule;
  readonly #target: string;
  readonly #known = new Map<number, NextDue>();

  constructor(schedule: Schedule, target: string) {
    this.#schedule = schedule;
    this.#target = target;
  }

  cutBy(ms: number): NextDue {
    let next = this.#known.get(ms);
    if (next === undefined) {
      next = createNextDue({ ...this.#schedule, slots: { ms, since: 0, beforeMs: ms } }, this.#target);
      this.#known.set(ms, next);
    }
    return next;
  }
}

function isDue(next: NextDue, dueAt: number, laterMs: number): boolean {
  const due = next(dueAt - laterMs - 1);
  return due !== null && due <= dueAt;
}
