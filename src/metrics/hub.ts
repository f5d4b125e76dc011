import type { MetricReader } from './ask.ts';
import { type OwnRegister, setOrRemove } from './own-register.ts';

/** One of several hubs that share their history, and what it sees of the others. */
export interface HubFigures {
  readonly isLeader: boolean;
  /** Whether it leads without NATS. */
  readonly isAlone: boolean;
  /** The number of the last record of the log that it has applied. */
  readonly applied: number;
  /** How many records the leader was ahead when it was asked last; null if none answers. */
  readonly behind: number | null;
  readonly leaderlessSeconds: number;
  readonly others: readonly { readonly name: string; readonly isDegraded: boolean }[];
}

/** What a hub is and how far it has come; read at each scrape. */
export function createHubMetrics(
  register: OwnRegister,
  ask: MetricReader,
  figures: () => HubFigures,
): { refresh(): void } {
  const leader = register.gauge('watchpost_hub_leader', '1 if this hub leads, with NATS or alone, else 0.');
  const alone = register.gauge('watchpost_hub_alone', '1 if this hub leads without NATS, else 0.');
  const applied = register.gauge(
    'watchpost_hub_applied_records',
    'The number of the last record of the log that this hub has applied.',
  );
  const behind = register.gauge(
    'watchpost_hub_lag_records',
    'How many records the leader was ahead of this hub when it was asked last. Absent if no leader answers.',
  );
  const leaderless = register.gauge(
    'watchpost_hub_leaderless_seconds',
    'For how long no hub has led as far as this one can see; 0 if one leads.',
  );
  const degraded = register.gauge(
    'watchpost_hub_degraded',
    '1 if another hub does not answer, is behind, or differs from the leader, as this hub sees it, else 0.',
    ['hub'],
  );
  return {
    refresh() {
      degraded.reset();
      const read = ask('hubs', figures);
      setOrRemove(leader, read === null ? null : Number(read.isLeader));
      setOrRemove(alone, read === null ? null : Number(read.isAlone));
      setOrRemove(applied, read?.applied ?? null);
      setOrRemove(behind, read?.behind ?? null);
      setOrRemove(leaderless, read?.leaderlessSeconds ?? null);
      for (const { name, isDegraded } of read?.others ?? []) degraded.set({ hub: name }, Number(isDegraded));
    },
  };
}
