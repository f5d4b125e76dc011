import { Cron } from 'croner';

/** When notifications are suppressed: again and again, or once. Times are milliseconds. */
export type MaintenanceTime =
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string; readonly durationMs: number }
  | { readonly kind: 'once'; readonly from: number; readonly to: number };

export interface Maintenance {
  /** Names of targets, or all there are. */
  readonly targets: 'all' | readonly string[];
  readonly time: MaintenanceTime;
}

/** The end of a window that is open at a moment, in milliseconds since the epoch; null if none is. */
export type WindowAt = (at: number) => number | null;

/**
 * When a maintenance window is open: from each tick of its pattern for its duration, both counted in real time, so that an hour
 * is an hour on the days when clocks are changed too. A tick that falls into the hour that such a day leaves out comes at its
 * end; one that falls into the hour that comes twice comes the first time.
 */
export function createWindow(time: MaintenanceTime): WindowAt {
  if (time.kind === 'once') return (at) => (at >= time.from && at < time.to ? time.to : null);
  const { pattern, timezone, durationMs } = time;
  const cron = new Cron(pattern, { timezone, paused: true });
  const tickAfter = (moment: number) => cron.nextRun(new Date(moment))?.getTime() ?? null;
  // The answer holds for a while: until the window ends or the next one begins.
  let known: { readonly from: number; readonly until: number; readonly end: number | null } | null = null;

  return (at) => {
    if (known !== null && at >= known.from && at < known.until) return known.end;
    let end: number | null = null;
    let tick = tickAfter(at - durationMs - 1_000);
    while (tick !== null && tick <= at) {
      if (tick + durationMs > at) end = tick + durationMs;
      tick = tickAfter(tick);
    }
    known = { from: at, until: Math.min(end ?? Number.POSITIVE_INFINITY, tick ?? Number.POSITIVE_INFINITY), end };
    return end;
  };
}

/** A span of time in which notifications of some targets are suppressed. */
export interface MaintenanceWindow {
  readonly targets: 'all' | readonly string[];
  readonly from: number;
  readonly to: number;
}

const mostOfOne = 5;

/** The windows that are open at `now` or begin before `until`, those that begin first at the beginning; of one that recurs the next few. */
export function windowsAhead(
  maintenance: readonly Maintenance[],
  now: number,
  until: number,
): readonly MaintenanceWindow[] {
  return maintenance
    .flatMap(({ targets, time }) => timesOf(time, now, until).map((one) => ({ targets, ...one })))
    .toSorted((a, b) => a.from - b.from);
}

function timesOf(time: MaintenanceTime, now: number, until: number): readonly Omit<MaintenanceWindow, 'targets'>[] {
  if (time.kind === 'once') return time.to > now && time.from < until ? [{ from: time.from, to: time.to }] : [];
  const { pattern, timezone, durationMs } = time;
  const cron = new Cron(pattern, { timezone, paused: true });
  const found: Omit<MaintenanceWindow, 'targets'>[] = [];
  let tick = cron.nextRun(new Date(now - durationMs))?.getTime();
  while (tick !== undefined && tick < until && found.length < mostOfOne) {
    if (tick + durationMs > now) found.push({ from: tick, to: tick + durationMs });
    tick = cron.nextRun(new Date(tick))?.getTime();
  }
  return found;
}

/** When each target's maintenance ends, for those in maintenance at a moment. */
export function createMaintenanceAt(windows: readonly Maintenance[]): (target: string, at: number) => number | null {
  const opened = windows.map(({ targets, time }) => ({
    concerns: targets === 'all' ? null : new Set(targets),
    windowAt: createWindow(time),
  }));
  return (target, at) => {
    let latest: number | null = null;
    for (const { concerns, windowAt } of opened) {
      if (concerns !== null && !concerns.has(target)) continue;
      const end = windowAt(at);
      if (end !== null) latest = Math.max(latest ?? end, end);
    }
    return latest;
  };
}
