import type { Config } from '#config/config.ts';
import type { Clock } from '#kernel/clock.ts';
import { dayMs } from '#kernel/units.ts';
import { type MaintenanceWindow, windowsAhead } from '#monitor/suppress/maintenance.ts';
import type { Silence } from '#monitor/suppress/silence.ts';

export interface MaintenanceSources {
  readonly inForce: () => Pick<Config, 'maintenance'>;
  readonly silences: () => readonly Silence[];
  readonly clock: Clock;
}

const aheadMs = 14 * dayMs;
const freshMs = 10_000;

/** Maintenance and silences of the next two weeks by their beginning, looked for now and then only: strangers load the pages that show it. */
export function createMaintenanceAhead({ inForce, silences, clock }: MaintenanceSources) {
  let known: { readonly at: number; readonly all: readonly MaintenanceWindow[] } | null = null;
  return () => {
    const now = clock.now();
    if (known !== null && now - known.at < freshMs) return known.all;
    const silenced = silences().map(({ targets, from, until }) => ({ targets, from, to: until }));
    const all = [...windowsAhead(inForce().maintenance, now, now + aheadMs), ...silenced]
      .filter(({ from, to }) => to > now && from < now + aheadMs)
      .toSorted((a, b) => a.from - b.from);
    known = { at: now, all };
    return all;
  };
}
