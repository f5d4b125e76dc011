import type { CheckRunner, OverloadTimes } from '#compose/checking.ts';
import type { HubTroubles } from '#compose/hubs/watch-hubs.ts';
import type { Clock } from '#kernel/clock.ts';
import { type TroubleSource, watchTroubles } from '#monitor/suppress/troubles.ts';
import { ownBudget, ownDatabase, ownHub, ownNats, ownNodeOverload, ownOverload } from '#monitor/judge/incident.ts';
import type { Monitor } from '#monitor/monitor.ts';
import { countOf } from '#kernel/text.ts';
import { dayMs } from '#kernel/units.ts';
import { minuteMs } from '#service/minute-count.ts';
import type { Store } from '#store/sqlite.ts';

export interface OwnIncidentSources {
  readonly store: Pick<Store, 'health'>;
  readonly checking: Pick<CheckRunner, 'hub' | 'overload' | 'overloadedNodes'>;
  readonly monitor: Pick<Monitor, 'troubled' | 'openIncidents'>;
  /** What is wrong with the other hubs; null if this is the only one. */
  readonly hubs?: HubTroubles | null | undefined;
  /** Default: a minute, and five for the end. */
  readonly overloadTimes?: OverloadTimes | undefined;
  readonly clock: Clock;
}

// Another program may lock the database for a moment; a full disk often has room again after a moment.
const ofDatabase = { afterMs: 10_000, overMs: 60_000 };
// A server that is started anew is back by then.
const ofNats = { afterMs: 60_000, overMs: 60_000 };

// A burst, as after a stall, is over by then.
const usualTimes: OverloadTimes = { countedMs: minuteMs, afterMs: 60_000, overMs: 300_000 };

// Nodes that come back send all that they retained, and have it sent again later: that is no fault of theirs.
const ofBudget = { afterMs: 120_000, overMs: 300_000, lingersMs: 60_000 };

/** Reports faults of Watchpost itself: store, delivery, NATS, nodes over their budget, overload, the check service and other hubs. */
export function watchOurselves(
  database: string,
  { store, checking, monitor, hubs = null, overloadTimes: times = usualTimes, clock }: OwnIncidentSources,
): Disposable {
  const ofOverload = { afterMs: times.afterMs, overMs: times.overMs, lingersMs: times.countedMs };
  const sources: readonly TroubleSource[] = [
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
    { name: ownOverload, which: () => 'Watchpost', reason: () => checking.overload(), ...ofOverload },
    {
      name: ownNodeOverload,
      which: () => checking.overloadedNodes()[0]?.node ?? '',
      reason: () => leftOutBy(checking.overloadedNodes()),
      ...ofOverload,
    },
  ];
  return watchTroubles({
    sources: () => (hubs === null ? sources : [...sources, ...ofHubs(hubs, { monitor, clock })]),
    clock,
    wasReported: (name) => monitor.openIncidents().some(({ target }) => target === name),
    report: (trouble) => monitor.troubled(trouble),
  });
}

function leftOutBy([worst, ...others]: ReturnType<CheckRunner['overloadedNodes']>): string | null {
  if (worst === undefined) return null;
  const rest = others.map(({ node, checks }) => `, ${node} ${countOf(checks, 'check')}`).join('');
  return `${worst.node} left out ${countOf(worst.checks, 'check')} in the last minute${rest}`;
}

// One that answers no more for so long was taken away: the log is kept for 48 hours, and it would begin anew.
const removedMs = 2 * dayMs;

function ofHubs(
  { names, reasonOf, afterMs, overMs }: HubTroubles,
  { monitor, clock }: Pick<OwnIncidentSources, 'monitor' | 'clock'>,
): readonly TroubleSource[] {
  const open = monitor.openIncidents().filter(({ target }) => target.startsWith(ownHub));
  const removed = open.filter(({ startedAt }) => clock.now() - startedAt > removedMs).map(nameOf);
  const known = new Set([...names(), ...open.map(nameOf).filter((name) => !removed.includes(name))]);
  return [...known].map((name) => ({
    name: `${ownHub}${name}` as const,
    which: () => name,
    reason: () => reasonOf(name),
    afterMs: afterMs(name),
    overMs,
  }));
}

const nameOf = ({ target }: { readonly target: string }) => target.slice(ownHub.length);
