import type Database from 'better-sqlite3';
import type { PackedResult } from '#history/pack.ts';
import { statusOf } from '../rows.ts';
import type { TargetNodePair } from './sealed-rows.ts';

/** The results of one pair in an hour, as few bytes as arrays allow: an hour of a large hub has millions. */
export class PairResults implements TargetNodePair {
  readonly targetId: number;
  readonly nodeId: number;
  readonly #dues: number[] = [];
  readonly #durations: (number | null)[] = [];
  readonly #statuses: number[] = [];
  readonly #failures = new Map<number, string>();
  readonly #lates = new Map<number, number>();

  constructor({ targetId, nodeId }: TargetNodePair) {
    this.targetId = targetId;
    this.nodeId = nodeId;
  }

  add(dueAt: number, status: number, durationUs: number | null, failure: string | null, lateAt: number | null): void {
    if (failure !== null) this.#failures.set(this.#dues.length, failure);
    if (lateAt !== null) this.#lates.set(this.#dues.length, lateAt);
    this.#dues.push(dueAt);
    this.#durations.push(durationUs);
    this.#statuses.push(status);
  }

  /** How many results there are. */
  get size(): number {
    return this.#dues.length;
  }

  results(): readonly PackedResult[] {
    return this.#dues.map((dueAt, index) => ({
      dueAt,
      status: statusOf(this.#statuses[index] ?? 2),
      durationUs: this.#durations[index] ?? null,
      failure: this.#failures.get(index) ?? null,
      lateAt: this.#lates.get(index) ?? null,
    }));
  }
}

type ScanRow = readonly [
  dueAt: number,
  targetId: number,
  nodeId: number,
  status: number,
  durationUs: number | null,
  failure: string | null,
  lateAt: number | null,
];

/** Which results to gather: those of targets whose numbers lie from `first` until before `end`, due from `from` until before `to`. */
export interface ScanRange {
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly end: number;
}

/** Goes through results in order of time, some at a time, and sorts them by pair. */
export interface ResultScan {
  /** Takes up to `limit` results more, and reads no more than some thousand; false if that was the end. */
  more(limit: number): boolean;
  readonly pairs: ReadonlyMap<string, PairResults>;
}

// Those of few targets lie far apart: a search for as many as it may take would go through the whole hour in one piece.
const lookedAtOnce = 4_000;

export function createGatherer(database: Database.Database): (range: ScanRange) => ResultScan {
  const next = database
    .prepare<[object], ScanRow>(
      `SELECT due_at, target_id, node_id, status, duration_us, failure, late_at FROM results
       WHERE (due_at, target_id, node_id) > (:dueAt, :targetId, :nodeId) AND due_at < :to
         AND target_id >= :first AND target_id < :end
       ORDER BY due_at, target_id, node_id LIMIT :limit`,
    )
    .raw();
  const dueAfter = database.prepare<[object], { at: number }>(
    'SELECT due_at AS at FROM results WHERE due_at >= :dueAt AND due_at < :to ORDER BY due_at LIMIT 1 OFFSET :looked',
  );
  return ({ from, to, first, end }) => {
    const pairs = new Map<string, PairResults>();
    const texts = new Map<string, string>();
    let place = { dueAt: from, targetId: -1, nodeId: -1 };
    const once = (text: string) => {
      const known = texts.get(text) ?? text;
      texts.set(text, known);
      return known;
    };
    return {
      pairs,
      more(limit) {
        const at = dueAfter.get({ dueAt: place.dueAt, to, looked: lookedAtOnce })?.at ?? to;
        const until = Math.max(at, place.dueAt + 1);
        const rows = next.all({ ...place, to: until, first, end, limit });
        for (const [dueAt, targetId, nodeId, status, durationUs, failure, lateAt] of rows) {
          const key = `${targetId} ${nodeId}`;
          let gathered = pairs.get(key);
          if (gathered === undefined) pairs.set(key, (gathered = new PairResults({ targetId, nodeId })));
          gathered.add(dueAt, status, durationUs, failure === null ? null : once(failure), lateAt);
          place = { dueAt, targetId, nodeId };
        }
        if (rows.length === limit) return true;
        place = { dueAt: until, targetId: -1, nodeId: -1 };
        return until < to;
      },
    };
  };
}
