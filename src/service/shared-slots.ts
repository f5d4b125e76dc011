import type { Schedule, Slots } from '#schedule/schedule.ts';
import { nextSlots, widthFor } from '#schedule/slots.ts';
import type { TargetWatch } from './target-watch.ts';

/** Has all that is watched be due in slots of one width, the finer the more there is. */
export class SharedSlots {
  #slots: Slots | null = null;
  #wantedMs = 0;

  /** Gives who is due in other ones than before, with schedules that say so. */
  share(places: Iterable<TargetWatch>, now: number): readonly TargetWatch[] {
    const going = [...places].filter(({ stoppedAt }) => stoppedAt === Number.POSITIVE_INFINITY);
    this.#wantedMs = widthFor(going.reduce((sum, { rate }) => sum + rate, 0));
    const slots = (this.#slots = nextSlots(this.#slots, this.#wantedMs, now));
    const others = going.filter(({ schedule }) => schedule.slots !== slots);
    const inSlots = new Map<Schedule, Schedule>();
    for (const place of others) {
      const schedule = inSlots.get(place.schedule) ?? { ...place.schedule, slots };
      inSlots.set(place.schedule, schedule);
      place.schedule = schedule;
      place.assigned = { ...place.assigned, schedule: place.schedule };
      place.rounds.follow(place.schedule);
    }
    return others;
  }

  /** Whether there is another width to share, which had to wait for the one before. */
  isDue(now: number): boolean {
    return this.#slots !== null && this.#slots.ms !== this.#wantedMs && now > this.#slots.since;
  }
}
