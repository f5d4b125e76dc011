import type { Clock } from '#kernel/clock.ts';
import type { Outbox } from '#monitor/notify/outbox.ts';
import type { NodeStatus } from '#service/ports.ts';
import type { Store } from '#store/sqlite.ts';
import type { HealthOptions } from '#web/health.ts';

export interface HealthDependencies {
  readonly checking: { notReady(): readonly string[] };
  readonly store: Pick<Store, 'health'>;
  readonly outbox: Pick<Outbox, 'ageMs'>;
  readonly clock: Clock;
  /** The monitor, once it runs. */
  readonly monitor: () => { overdueMs(): number } | undefined;
}

/** What `/healthz` and `/readyz` say of the program. A store that refuses is not ready at once, and stuck after a minute. */
export function healthOf({ checking, store, outbox, clock, monitor }: HealthDependencies): HealthOptions {
  return {
    pulses: [
      { name: 'schedule', ageMs: () => monitor()?.overdueMs() ?? 0, limitMs: 240_000 },
      { name: 'store', ageMs: () => sinceMs(store.health().failingSince, clock), limitMs: 60_000 },
      { name: 'outbox', ageMs: () => outbox.ageMs(), limitMs: 180_000 },
    ],
    notReady() {
      const { lastError } = store.health();
      return [...checking.notReady(), ...(lastError === null ? [] : [`nothing can be stored: ${lastError}`])];
    },
  };
}

/** Why checks cannot be run as they should be by these nodes, in words. */
export function notReadyReasons(nodes: readonly Pick<NodeStatus, 'info' | 'online' | 'starting'>[]): readonly string[] {
  const starting = nodes.filter((node) => node.starting === true);
  if (starting.length > 0) return starting.map(({ info }) => `node ${info.name} is starting`);
  return nodes.some(({ online }) => online) ? [] : ['no node is online'];
}

function sinceMs(moment: number | null, clock: Clock): number {
  return moment === null ? 0 : Math.max(0, clock.now() - moment);
}
