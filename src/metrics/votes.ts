import type { CheckSpec } from '#checks/index.ts';
import type { Log } from '#kernel/log.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import { type BlackboxMetrics, createBlackboxMetrics } from './blackbox.ts';
import { type CheckMetrics, durationBounds } from './check.ts';
import type { OwnRegister } from './own-register.ts';
import { createPairLimit } from './pair-limit.ts';
import type { Register } from './register.ts';
import type { ExportedTarget } from './target.ts';

/** What is shown, as the configuration says. */
export interface ShownMetrics {
  /** Upper bounds of the buckets of a check's duration, in seconds; null for our own. */
  readonly buckets: readonly number[] | null;
  /** Whether there are figures under the names of blackbox_exporter too. */
  readonly blackbox: boolean;
  /** How many pairs of target and node have series of their own; with more they are summed over nodes. */
  readonly pairLimit: number;
}

export interface VoteMetricsOptions {
  readonly register: Register;
  readonly own: OwnRegister;
  readonly log: Log;
  readonly check: CheckMetrics;
  readonly shown: ShownMetrics;
  /** Called when pairs of target and node have become too many for series of each. */
  readonly onManyPairs?: (() => void) | undefined;
}

/** What nodes saw, under the names of each kind; summed over nodes if targets and nodes are too many. */
export interface VoteMetrics {
  record(target: string, check: CheckSpec['type'], votes: readonly Vote[]): void;
  showAs(shown: ShownMetrics): void;
  targetsChanged(targets: readonly ExportedTarget[]): void;
  /** Drops the series of nodes that are gone. */
  keepNodes(nodes: ReadonlySet<string>): void;
  /** Whether targets and nodes are too many. */
  readonly isSummed: boolean;
}

export function createVoteMetrics({ register, own, log, check, shown, onManyPairs }: VoteMetricsOptions): VoteMetrics {
  let watched: readonly ExportedTarget[] = [];
  let isBlackboxWanted = shown.blackbox;
  let blackbox: BlackboxMetrics | null = null;
  const summed = own.gauge(
    'watchpost_metrics_nodes_summed',
    '1 while pairs of target and node are too many for series of each, so that they are summed over nodes; else 0.',
  );
  const limit = createPairLimit(shown.pairLimit, (most) => {
    const figures = { pairs: limit.pairs, limit: most };
    if (limit.isExceeded)
      log.warn(figures, 'too many pairs of target and node for series of each; metrics sum them over nodes');
    else log.info(figures, 'each pair of target and node has series of its own in metrics again');
    show();
    if (limit.isExceeded) onManyPairs?.();
  });
  show();

  // Every figure of blackbox_exporter is one of a node.
  function show(): void {
    summed.set(Number(limit.isExceeded));
    check.sumNodes(limit.isExceeded);
    const isShown = isBlackboxWanted && !limit.isExceeded;
    if (isShown === (blackbox !== null)) return;
    blackbox?.close();
    blackbox = isShown ? createBlackboxMetrics(register) : null;
    blackbox?.targetsChanged(watched);
  }

  return {
    record(target, type, votes) {
      limit.note(target, votes.length);
      check.record(target, type, votes);
      blackbox?.record(target, type, votes);
    },
    showAs({ buckets, blackbox: isWanted, pairLimit }) {
      check.setBounds(buckets ?? durationBounds);
      isBlackboxWanted = isWanted;
      limit.setLimit(pairLimit);
      show();
    },
    targetsChanged(targets) {
      watched = targets;
      blackbox?.targetsChanged(targets);
      limit.keepTargets(new Set(targets.map(({ name }) => name)));
      check.keepTargets(new Map(targets.map(({ name, check: type }) => [name, type])));
    },
    keepNodes(names) {
      limit.keepNodes(names.size);
      check.keepNodes(names);
      blackbox?.keepNodes(names);
    },
    get isSummed() {
      return limit.isExceeded;
    },
  };
}
