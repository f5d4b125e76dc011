import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.ts';
import type { HistoryTarget, TargetNow } from './reader.ts';
import { lastRounds } from './rounds.ts';
import type { HistorySource } from './source.ts';

/** How targets are at this moment, as far as the history tells. */
export async function targetsNow(
  source: HistorySource,
  targets: readonly HistoryTarget[],
  clock: Clock,
  signal?: AbortSignal,
): Promise<readonly TargetNow[]> {
  const periods = source.newestPeriods();
  const at = clock.now();
  const open = source.incidents({ from: at, to: at + 1, target: null, isOpen: true, after: null, limit: 10_000 });
  const all: TargetNow[] = [];
  for (const target of targets) {
    const period = periods.get(target.name);
    const endsAt = period === undefined ? at : period.last + period.holdsMs;
    const isStale = period === undefined || endsAt < at;
    const [round = null] = lastRounds(source, target.name, { before: clock.now() + 1, limit: 1 });
    all.push({
      ...target,
      status: isStale ? 'unknown' : period.status,
      inMaintenance: !isStale && period.inMaintenance,
      since: period === undefined ? null : isStale ? endsAt : period.from,
      round,
      incidents: open.filter((incident) => incident.target === target.name).toReversed(),
    });
    await nextTurn(undefined, { signal });
  }
  return all;
}
