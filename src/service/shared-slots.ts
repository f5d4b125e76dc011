import type { Slots } from '#schedule/schedule.ts';
import { nextSlots, widthFor } from '#schedule/slots.ts';
import type { Place } from './place.ts';

// So long everybody has to hear of other slots.
const afterMs = 30_000;

/**
 * Has all that is watched be due in slots of one width, the finer the more there is. Returns who is due in other ones than before,
 * with schedules that say so.
 */
export function createSharedSlots(): (places: Iterable<Place>, now: number) => readonly Place[] {
  let slots: Slots | null = null;
  return (places, now) => {
    const going = [...places].filter(({ stoppedAt }) => stoppedAt === Number.POSITIVE_INFINITY);
    const perSecond = going.reduce((sum, { rate }) => sum + rate, 0);
    const next = (slots = nextSlots(slots, widthFor(perSecond), now + afterMs));
    const others = going.filter(({ schedule }) => schedule.slots !== next);
    for (const place of others) {
      place.schedule = { ...place.schedule, slots: next };
      place.assigned = { ...place.assigned, schedule: place.schedule };
      place.rounds.follow(place.schedule);
    }
    return others;
  };
}
