import type { Silence } from './suppress/silence.ts';
import type { StoredPeriods } from './judge/budgets.ts';
import type { RoundRecord, StoredSuccess, StoredTarget } from './judge/round-record.ts';
import type { DeliveryStore } from './notify/delivery-store.ts';

/** The monitor's memory. Every method that writes is one transaction. */
export interface MonitorStore extends DeliveryStore, StoredPeriods {
  load(): readonly StoredTarget[];
  /** The last `spec` of the records of each of these targets, by name. */
  checkedSpecs(targets: ReadonlySet<string>): ReadonlyMap<string, string>;
  /** The good results of these targets that were due at `since` or later, oldest first. */
  recentSuccesses(since: number, targets: ReadonlySet<string>): Iterable<StoredSuccess>;
  /** The silences that end after `now`. */
  silences(now: number): readonly Silence[];
  /** Stores a silence, in place of the one of its id. */
  saveSilence(silence: Silence): void;
  /**
   * Stores a round, resolved once it is committed. What follows from it is stored whatever is there; results whose very copies
   * are there are not stored twice (`duplicate`), and others under a name that is taken get the next free one, a millisecond
   * later. Rounds that change no state may wait up to a second to be committed together, healthy ones up to three.
   */
  record(round: RoundRecord): Promise<'stored' | 'duplicate'>;
  /** Commits what waits now, without waiting for more. */
  flush(): void;
}
