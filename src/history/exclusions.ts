import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import { suggestion } from '#kernel/wording.ts';
import type { TimeSpan } from './span.ts';
import type { VerdictPeriod } from './verdict-periods.ts';

/** A stretch of past time that counts neither for nor against uptime. Times are milliseconds since the epoch. */
export interface Exclusion extends TimeSpan {
  readonly id: string;
  /** The name of the target; null for all targets. */
  readonly target: string | null;
  readonly why: string;
  readonly createdAt: number;
}

/** Where exclusions are kept over restarts. */
export interface ExclusionStore {
  /** All, by their beginning. */
  exclusions(): readonly Exclusion[];
  addExclusion(exclusion: Exclusion): void;
  removeExclusion(exclusion: Exclusion): void;
}

export type ExclusionRequest = Pick<Exclusion, 'target' | 'from' | 'to' | 'why'>;

/** The exclusions of an installation. What is asked wrongly throws `usage`. */
export interface Exclusions {
  list(): readonly Exclusion[];
  add(asked: ExclusionRequest): Exclusion;
  /** Has its time count again. */
  remove(id: string): Exclusion;
}

export interface ExclusionsOptions {
  readonly store: ExclusionStore;
  /** Names of the targets that are configured or have a history. */
  readonly targets: () => ReadonlySet<string>;
  /** Called when the time of a target, or of all (null), counts differently. */
  readonly changed: (target: string | null) => void;
  readonly clock: Clock;
  readonly random: Random;
}

const mostExclusions = 10_000;

export function createExclusions({ store, targets, changed, clock, random }: ExclusionsOptions): Exclusions {
  return {
    list: () => store.exclusions(),
    add({ target, from, to, why }) {
      const names = targets();
      if (target !== null && !names.has(target))
        throw new WatchpostError('usage', `there is no target ${target}${suggestion(target, [...names])}`);
      if (from >= to) throw new WatchpostError('usage', 'the exclusion ends before it begins');
      if (to > clock.now())
        throw new WatchpostError(
          'usage',
          `the exclusion ends in the future, at ${new Date(to).toISOString()}: exclude time that is over; planned times go under maintenance in the configuration`,
        );
      if (store.exclusions().length >= mostExclusions)
        throw new WatchpostError('usage', `there are ${mostExclusions} exclusions already; remove one first`);
      const exclusion = { id: random.id(8), target, from, to, why: singleLine(why, 200), createdAt: clock.now() };
      store.addExclusion(exclusion);
      changed(target);
      return exclusion;
    },
    remove(id) {
      const known = store.exclusions().find((one) => one.id === id);
      if (known === undefined)
        throw new WatchpostError('usage', `there is no exclusion ${id}; list them with \`watchpost exclusions list\``);
      store.removeExclusion(known);
      changed(known.target);
      return known;
    },
  };
}

/**
 * Verdict periods with excluded time cut out and periods marked as excluded in its place. The last piece keeps its last round and how
 * long that holds, so that the next round can continue it.
 */
export function withExclusions(
  periods: readonly VerdictPeriod[],
  excluded: readonly TimeSpan[],
): readonly VerdictPeriod[] {
  if (excluded.length === 0) return periods;
  const spans = joined(excluded);
  const pieces = periods.flatMap((period, index) => {
    const end = Math.min(period.last + period.holdsMs, periods[index + 1]?.from ?? Infinity);
    return remainders({ from: period.from, to: end }, spans).map(({ from, to }) => pieceOf(period, from, to, end));
  });
  const marks = spans.map(({ from, to }) => ({ ...excludedPeriod, from, last: to }));
  return [...pieces, ...marks].toSorted((a, b) => a.from - b.from);
}

const excludedPeriod = { holdsMs: 0, status: 'unknown', inMaintenance: false, isExcluded: true } as const;

function pieceOf(period: VerdictPeriod, from: number, to: number, end: number): VerdictPeriod {
  if (to === end) return { ...period, from };
  const last = Math.min(period.last, to);
  return { ...period, from, last, holdsMs: to - last };
}

/** Spans that overlap or touch, as one; in order. */
function joined(spans: readonly TimeSpan[]): readonly TimeSpan[] {
  const all: TimeSpan[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const before = all.at(-1);
    if (before !== undefined && from <= before.to) all[all.length - 1] = { ...before, to: Math.max(before.to, to) };
    else all.push({ from, to });
  }
  return all;
}

/** The parts of a span outside others, which are in order and apart. */
function remainders({ from, to }: TimeSpan, others: readonly TimeSpan[]): readonly TimeSpan[] {
  const rest: TimeSpan[] = [];
  let begun = from;
  for (const other of others) {
    if (other.to <= begun) continue;
    if (other.from >= to) break;
    if (other.from > begun) rest.push({ from: begun, to: other.from });
    begun = other.to;
  }
  if (begun < to || begun === from) rest.push({ from: begun, to });
  return rest;
}
