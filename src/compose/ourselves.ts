import type { CheckRunner } from '#compose/checking.ts';
import type { Clock } from '#kernel/clock.ts';
import { watchTroubles } from '#monitor/suppress/troubles.ts';
import { ownBudget, ownDatabase, ownNats, ownOverload } from '#monitor/judge/incident.ts';
import type { Monitor } from '#monitor/monitor.ts';
import type { Store } from '#store/sqlite.ts';

export interface OwnIncidentSources {
  readonly store: Pick<Store, 'health'>;
  readonly checking: Pick<CheckRunner, 'hub' | 'overload'>;
  readonly monitor: Pick<Monitor, 'troubled' | 'openIncidents'>;
  readonly clock: Clock;
}

// Another program may lock the database for a moment; a full disk often has room again after a moment.
const ofDatabase = { afterMs: 10_000, overMs: 60_000 };
// A server that is started anew is back by then.
const ofNats = { afterMs: 60_000, overMs: 60_000 };

// A burst, as after a stall, is over by then.
// Its reason is about the last minute.
const ofOverload = { afterMs: 60_000, overMs: 300_000, lingersMs: 60_000 };

// Nodes that come back send all that they retained, and have it sent again later: that is no fault of theirs.
const ofBudget = { afterMs: 120_000, overMs: 300_000, lingersMs: 60_000 };

/** Reports faults of Watchpost itself: store, delivery, NATS, nodes over their budget and the check service. */
export function watchOurselves(database: string, { store, checking, monitor, clock }: OwnIncidentSources): Disposable {
  return watchTroubles({
    sources: [
      { name: ownDatabase, which: () => database, reason: () => store.health().lastError, ...ofDatabase },
      // A reload may begin and end it.
      {
        name: ownNats,
        which: () => checking.hub()?.servers.join(', ') ?? null,
        reason: () => checking.hub()?.trouble() ?? null,
        ...ofNats,
      },
      {
        name: ownBudget,
        which: () => (checking.hub() === null ? null : 'what nodes send'),
        reason: () => checking.hub()?.excess() ?? null,
        ...ofBudget,
      },
      { name: ownOverload, which: () => 'what nodes see', reason: () => checking.overload(), ...ofOverload },
    ],
    clock,
    wasReported: (name) => monitor.openIncidents().some(({ target }) => target === name),
    report: (trouble) => monitor.troubled(trouble),
  });
}
