import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import { retentionIn } from '#compose/history.ts';
import type { MonitorRuntime } from '#compose/monitor.ts';
import { type HubSharing, openStanding, type StandingDaemon } from '#compose/standing.ts';
import type { Config } from '#config/config.ts';
import type { ConfiguredHub } from '#config/hub.ts';
import type { ConfigSource } from '#config/apply/reload.ts';
import { Member, type MemberOptions } from '#hubs/member.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { createSharing, type SharedStore, SharedWrites } from '#store/shared-store.ts';
import { openStore, type Store } from '#store/sqlite.ts';
import type { WebOptions } from '#web/server.ts';

/** What stands on the database of a hub, and ends with it. */
export interface HubParts {
  readonly store: Store;
  readonly shared: SharedStore;
  readonly member: Member;
  standing: StandingDaemon;
  /** What judges, while this hub leads. */
  monitoring: MonitorRuntime | null;
  /** Opens what stands on the store anew. */
  stand(): Promise<StandingDaemon>;
}

export interface HubPartsOptions extends Pick<MemberOptions, 'session' | 'onLead' | 'onLost' | 'onSnapshotNeeded'> {
  readonly config: () => Config;
  readonly hub: ConfiguredHub;
  readonly environment: CheckRunnerEnvironment;
  readonly source: ConfigSource | null;
  readonly front: NonNullable<WebOptions['front']>;
  readonly isHandingOver: () => boolean;
  readonly hubs: HubSharing['hubs'];
  readonly checks: HubSharing['checks'];
  /** Called at every change of what pages show. */
  readonly onChange: () => void;
}

// What each leader writes first, so that links and sessions of one hub hold on all.
const sharedFacts = ['identity', 'session key', 'acknowledgement key', 'push key'];

/** Opens the database and everything but the monitor. */
export async function openParts(options: HubPartsOptions): Promise<HubParts> {
  const { config, hub, environment, session, onLead, onLost, onSnapshotNeeded } = options;
  const { clock, random, log, pid } = environment;
  let parts: HubParts | null = null;
  const store = openStore({
    path: config().data,
    clock,
    log,
    pid,
    retention: retentionIn(config),
    sharing: {
      create: createSharing,
      writeLog: { publish: async (writes) => member.publish(writes) },
      onCommitted(writes, position) {
        member.committed(position);
        if (parts === null) return;
        try {
          parts.standing.committed(writes);
          if (parts.monitoring === null) parts.standing.applied(writes);
        } catch (error) {
          // It is committed: whatever goes wrong here must not have it read again.
          log.error({ err: error }, 'cannot show what the hubs wrote');
        }
      },
    },
  });
  const { shared } = store;
  if (shared === null) throw new WatchpostError('internal', 'the store is not shared');
  const member: Member = new Member({
    name: hub.name,
    store: { ...shared, apply: (writes, position) => shared.apply(SharedWrites.parse(writes), position) },
    session,
    firstWrites: () =>
      sharedFacts.map((name) => ({ kind: 'fact', name, value: store.fact(name, () => random.id(43)) })),
    onLead,
    onLost,
    onSnapshotNeeded,
    clock,
    log,
  });
  const stand = async () => standOn(store, member, options);
  try {
    parts = { store, shared, member, standing: await stand(), monitoring: null, stand };
    return parts;
  } catch (error) {
    await store.close();
    throw error;
  }
}

const aloneRemark = (name: string) => `Hub ${name} leads alone at the moment: another hub may send the same.`;

async function standOn(
  store: Store,
  member: Member,
  { config, hub, environment, source, front, isHandingOver, hubs, checks, onChange }: HubPartsOptions,
): Promise<StandingDaemon> {
  await environment.embedded?.use(config());
  const standing = await openStanding(config(), environment, source, {
    store,
    mayNotify: () => !isHandingOver() && member.mayAct(),
    remark: () => (member.status().role === 'alone' ? aloneRemark(hub.name) : null),
    troubles: () => {
      const { trouble } = member.status();
      return trouble === null ? [] : [trouble];
    },
    front,
    hubs,
    checks,
  });
  standing.board.onChange(onChange);
  return standing;
}
