import { checkOf } from '#checks/index.ts';
import type { EvidenceStore } from '#history/evidence.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import { stableFraction } from '#kernel/hash.ts';
import type { Log } from '#kernel/log.ts';
import { dayMs } from '#kernel/units.ts';
import type { Target } from '../judge/target.ts';
import type { Vote } from '../judge/vote.ts';
import type { EvidenceGatherer, EvidenceSettings } from './gatherer.ts';

/** What nodes gather of targets that they see up, to compare it with when they fail. */
export interface GoodGathering {
  roundDone(target: Target, votes: readonly Vote[]): void;
  /** Resolves when nothing is being gathered. */
  idle(): Promise<void>;
}

interface GoodOptions {
  readonly settings: () => EvidenceSettings;
  readonly gatherer: EvidenceGatherer;
  readonly store: Pick<EvidenceStore, 'goodEvidenceTimes' | 'saveGoodEvidence'>;
  /** Whether a node gathers evidence of a failure. */
  readonly isBusy: (node: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends what is being gathered. */
  readonly signal: AbortSignal;
}

// From one gathering to the next of any target, so that it is spread also if it is all new.
const pauseMs = 2_000;

/** The day of a target at a node: each begins at a moment of its own. */
export function evidenceDay(target: string, node: string, at: number): number {
  return Math.floor(at / dayMs - stableFraction(`${target}\n${node}`));
}

function timesOf(store: GoodOptions['store'], log: GoodOptions['log']) {
  try {
    return store.goodEvidenceTimes();
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'cannot read evidence of healthy targets; gathering it anew');
    return [];
  }
}

/** At most one a day for each target and node, one at a time. */
export function createGoodGathering({
  settings,
  gatherer,
  store,
  isBusy,
  clock,
  log,
  signal,
}: GoodOptions): GoodGathering {
  // Days by target and node; null until they are read.
  let days: Map<string, number> | null = null;
  let running: Promise<void> | null = null;
  let restUntil = 0;
  let hasComplained = false;

  const keyOf = (target: string, node: string) => `${target}\n${node}`;

  function readDays(): Map<string, number> {
    return new Map(
      timesOf(store, log).map(({ target, node, at }) => [keyOf(target, node), evidenceDay(target, node, at)]),
    );
  }

  async function gather({ name, spec }: Target, node: string): Promise<void> {
    try {
      const at = clock.now();
      days?.set(keyOf(name, node), evidenceDay(name, node, at));
      const { document } = await gatherer.gather({ spec, node, failure: null, references: [] }, signal);
      if (document !== null) store.saveGoodEvidence(name, node, { at, document });
    } catch (error) {
      if (signal.aborted || hasComplained) return;
      hasComplained = true;
      log.warn({ target: name, node, reason: messageOf(error) }, 'cannot gather evidence of a healthy target');
    } finally {
      restUntil = clock.elapsed() + pauseMs;
      running = null;
    }
  }

  return {
    roundDone(target, votes) {
      if (running !== null || clock.elapsed() < restUntil || signal.aborted) return;
      days ??= readDays();
      const inForce = settings();
      if (!inForce.lastGood || !inForce.isEnabled(target.name) || checkOf(target.spec.type).heard !== null) return;
      const known = days;
      const isDue = ({ node: { name }, outcome }: Vote) =>
        outcome.status === 'up' &&
        !isBusy(name) &&
        known.get(keyOf(target.name, name)) !== evidenceDay(target.name, name, clock.now());
      const wanted = votes.filter(isDue);
      const online = wanted.length === 0 ? null : gatherer.nodes();
      const due = wanted.find(({ node }) => online?.includes(node.name) === true);
      if (due !== undefined) running = gather(target, due.node.name);
    },
    idle: async () => running ?? undefined,
  };
}
