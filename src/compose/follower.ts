import type { Incident } from '#monitor/judge/incident.ts';
import type { Silence } from '#monitor/suppress/silence.ts';
import type { Clock } from '#kernel/clock.ts';
import type { NodeStatus } from '#service/ports.ts';
import type { Config } from '#config/config.ts';
import type { Metrics } from '#metrics/metrics.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import type { SharedWrite } from '#store/shared-store.ts';
import type { Store } from '#store/sqlite.ts';
import type { Board } from '#web/state/board.ts';
import type { Notes } from '#web/state/notes.ts';

/** What a hub that does not lead shows in place of what its monitor would know. */
export interface FollowerView {
  openIncidents(): readonly Incident[];
  silences(): readonly Silence[];
  /** The nodes that voted lately. */
  statuses(): readonly NodeStatus[];
  /** Shows what another hub wrote. */
  applied(writes: readonly SharedWrite[], shown: ShownParts): void;
}

/** Where a follower shows what it applies. */
export interface ShownParts {
  readonly config: Config;
  readonly metrics: Pick<Metrics, 'roundDone' | 'incidentChanged'>;
  readonly pages: { readonly board: Board; readonly notes: Pick<Notes, 'reload'> };
}

const shownMs = 600_000;

const byName = new WeakMap<Config, ReadonlyMap<string, Config['targets'][number]>>();

function targetsOf(config: Config): ReadonlyMap<string, Config['targets'][number]> {
  const found = byName.get(config) ?? new Map(config.targets.map((target) => [target.name, target]));
  byName.set(config, found);
  return found;
}

export function createFollowerView(store: Pick<Store, 'load' | 'silences'>, clock: Clock): FollowerView {
  // Read for each page: they change rarely.
  let open: readonly Incident[] | null = null;
  const nodes = new Map<string, { readonly status: NodeStatus; readonly seenAt: number }>();

  function seen(votes: RoundRecord['votes']): void {
    for (const { node: info } of votes) {
      const status = { info, online: true, reason: null, capabilities: {}, running: 0, queued: 0, lagSeconds: 0 };
      nodes.set(info.name, { status, seenAt: clock.elapsed() });
    }
  }

  function showRound(round: RoundRecord, { config, metrics, pages }: ShownParts): void {
    const { target, dueAt, votes, verdict, incidents, revisedAt } = round;
    const watched = targetsOf(config).get(target);
    seen(votes.filter(({ outcome }) => outcome.status !== 'unknown'));
    if (verdict !== undefined && watched !== undefined && revisedAt === undefined && votes.length > 0) {
      const { status, inMaintenance } = verdict;
      pages.board.roundDone(target, { dueAt, votes, verdict: { status }, inMaintenance });
      const shown = { status: inMaintenance ? ('maintenance' as const) : status };
      metrics.roundDone({ dueAt, votes, target, check: watched.spec.type, verdict: shown, startedAt: dueAt });
    }
    if (incidents.length === 0) return;
    open = null;
    pages.board.incidentsChanged(incidents);
    for (const { target: name, rule, severity, endedAt, held } of incidents) {
      const active = endedAt === null;
      metrics.incidentChanged({ target: name, rule, severity, active, suppressed: active && held !== null });
    }
  }

  return {
    openIncidents: () => (open ??= store.load().flatMap(({ openIncidents }) => openIncidents)),
    silences: () => store.silences(clock.now()),
    statuses() {
      const now = clock.elapsed();
      return [...nodes.values()].flatMap(({ status, seenAt }) => (now - seenAt < shownMs ? [status] : []));
    },
    applied(writes, shown) {
      for (const write of writes) {
        if (write.kind === 'round') showRound(write.round, shown);
        else if (write.kind === 'note' || write.kind === 'note removed') shown.pages.notes.reload();
      }
    },
  };
}
