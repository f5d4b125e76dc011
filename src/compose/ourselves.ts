import type { Clock } from '#kernel/clock.ts';
import { ownDatabase } from '#monitor/judge/incident.ts';
import { watchTroubles } from '#monitor/doubt/troubles.ts';
import type { Monitor } from '#monitor/monitor.ts';
import type { Store } from '#store/sqlite.ts';

export interface Ourselves {
  readonly store: Pick<Store, 'health'>;
  readonly monitor: Pick<Monitor, 'troubled' | 'openIncidents'>;
  readonly clock: Clock;
}

// Somebody may look into the database and lock it for a moment; a disk that is full is often so again after a moment.
const patience = { afterMs: 10_000, overMs: 60_000 };

/** Has people told where what is our own does not work. */
export function watchOurselves(database: string, { store, monitor, clock }: Ourselves): Disposable {
  return watchTroubles({
    sources: [{ name: ownDatabase, which: database, reason: () => store.health().lastError, ...patience }],
    clock,
    wasTold: (name) => monitor.openIncidents().some(({ target }) => target === name),
    tell: (trouble) => monitor.troubled(trouble),
  });
}
