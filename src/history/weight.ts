import { dayMs, hourMs } from '#kernel/units.ts';

/** How often nodes check targets: so many pairs of a target and a node, each with so many results a day. */
export interface Traffic {
  readonly pairs: number;
  readonly resultsADay: number;
}

/** How long history is kept, in milliseconds; null is for ever. */
export interface KeptFor {
  readonly rawMs: number;
  readonly hoursMs: number;
  readonly daysMs: number | null;
}

// Measured (`npm run bench store`), all up, times that spread over a factor of four. An hour of results and its sums cost so much for
// themselves, and more the more results there are; those that wait to be sealed are rows.
const bytesOfPack = 55;
const bytesOfPackedResult = 1.8;
const bytesOfHour = 35;
const bytesOfRootOfResults = 10.5;
const bytesOfDay = 250;
const bytesOfRow = 24;
const unsealedHours = 2;

/** About how many bytes the database has after so many milliseconds of such traffic. What fails takes more, for its reasons. */
export function weightAfter(ms: number, traffic: readonly Traffic[], { rawMs, hoursMs, daysMs }: KeptFor): number {
  const hoursOf = (keptMs: number) => Math.min(ms, keptMs) / hourMs;
  const days = Math.min(ms, daysMs ?? ms) / dayMs;
  let bytes = 0;
  for (const { pairs, resultsADay } of traffic) {
    const anHour = resultsADay / 24;
    // A target checked less than once an hour has that many hours only.
    const share = Math.min(1, anHour);
    const inPack = Math.max(1, anHour);
    const raw = hoursOf(rawMs) * share * (bytesOfPack + bytesOfPackedResult * inPack);
    const hours = hoursOf(hoursMs) * share * (bytesOfHour + bytesOfRootOfResults * Math.sqrt(inPack));
    bytes += pairs * (raw + hours + days * Math.min(1, resultsADay) * bytesOfDay + unsealedHours * anHour * bytesOfRow);
  }
  return bytes;
}
