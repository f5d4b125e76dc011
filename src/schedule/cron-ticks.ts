import { Cron } from 'croner';

/** Gives the first tick after a moment, in milliseconds since the epoch; null if there is none any more. */
export type CronTicks = (after: number) => number | null;

const mostKnown = 256;
const mostPatterns = 1_000;
// From the last known tick on it is cheaper to go on than to begin anew.
const mostSteps = 4;
// Of those who look back, one after the other: then the clock was ahead.
const mostLooksBack = 100;

const shared = new Map<string, CronTicks>();

/**
 * The ticks of a cron pattern (five or six fields) in a time zone. Thousands of targets have the same pattern and ask for the same ticks,
 * of which each takes some hundred microseconds to find: they share what is known. A wrong pattern or zone throws.
 */
export function cronTicks(pattern: string, timezone: string): CronTicks {
  const key = `${timezone}\n${pattern}`;
  const known = shared.get(key);
  if (known !== undefined) return known;
  const ticks = remembered(new Cron(pattern, { timezone, paused: true }));
  // Patterns of many reloads.
  if (shared.size >= mostPatterns) shared.clear();
  shared.set(key, ticks);
  return ticks;
}

function remembered(cron: Cron): CronTicks {
  const find = (after: number) => cron.nextRun(new Date(after))?.getTime() ?? null;
  // Ticks that follow each other, of which the first is the next one after `from`.
  let from = Number.POSITIVE_INFINITY;
  let ticks: number[] = [];
  let looksBack = 0;

  function beginAt(after: number): number | null {
    const first = find(after);
    if (first === null) return null;
    [from, ticks] = [after, [first]];
    return first;
  }

  return (after) => {
    // Who looks back does not make others begin anew.
    looksBack = after < from && ticks.length > 0 ? looksBack + 1 : 0;
    if (looksBack > 0) return looksBack > mostLooksBack ? beginAt(after) : find(after);
    for (let step = 0; step < mostSteps; step += 1) {
      const last = ticks.at(-1);
      if (last === undefined) return beginAt(after);
      if (last > after) return ticks.find((tick) => tick > after) ?? last;
      const following = find(last);
      if (following === null) return null;
      ticks.push(following);
      if (ticks.length > mostKnown) from = ticks.shift() ?? from;
    }
    const last = ticks.at(-1);
    return last !== undefined && last > after ? last : beginAt(after);
  };
}
