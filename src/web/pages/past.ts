import type { HistoryFigures, HistoryReader } from '#history/reader.ts';
import { addTime, noTime, type TimeByStatus, uptimeOf } from '#history/verdict-periods.ts';
import { type Clock, sleepUnlessAborted } from '#kernel/clock.ts';
import { sharing } from '#kernel/sharing.ts';
import { dayMs } from '#kernel/units.ts';
import type { LiveTarget } from '../state/board.ts';
import type { DayState } from './drawings.ts';

/** How a target was up to this moment: 90 days, the share of them that it was up, and what is left of its budget. */
export interface Past {
  /** The worst of each day; the last one is today. */
  readonly days: readonly DayState[];
  /** How long it was down on each of them, in milliseconds. */
  readonly downMs: readonly number[];
  readonly uptime: number | null;
  /** From when on that is known; null if nothing is. */
  readonly since: number | null;
  /** How long it is known, in milliseconds, if that is less than the 90 days; else null. */
  readonly knownMs: number | null;
  /** Null if the target has no objective. */
  readonly budgetLeft: number | null;
}

/** What was looked up, and when. */
interface StoredPast {
  readonly at: number;
  /** How often all was renewed before it. */
  readonly renewals: number;
  readonly from: number;
  readonly days: readonly DayState[];
  readonly downMs: readonly number[];
  /** Null while uptime is unknown. */
  readonly time: TimeByStatus | null;
  readonly since: number | null;
  readonly budget: { readonly allowedMs: number; readonly spentMs: number } | null;
}

// The worst of a day comes first.
const worst = ['down', 'partial', 'up', 'maintenance', 'excluded', 'unknown'] as const;

/** How a day went: the worst that was seen. */
function dayOf({ time }: HistoryFigures): DayState {
  return time === null ? null : (worst.find((one) => time[one] > 0) ?? null);
}

type SincePart = Pick<LiveTarget, 'changes' | 'dueAt' | 'holdsMs'>;

/** How a target was from `at` until `now`, piece by piece. */
function piecesSince({ changes, dueAt, holdsMs }: SincePart, at: number, now: number) {
  const end = Math.min(now, (dueAt ?? 0) + holdsMs);
  return changes.flatMap(({ status, from }, index) => {
    const piece = { status, from: Math.max(from, at), to: Math.min(changes[index + 1]?.from ?? end, end) };
    return piece.to > piece.from ? [piece] : [];
  });
}

/** What was looked up, with what happened since then. */
export function pastNow(stored: StoredPast, live: SincePart, now: number): Past {
  const pieces = piecesSince(live, stored.at, now);
  const more: Record<keyof TimeByStatus, number> = { ...noTime };
  for (const { status, from, to } of pieces) more[status] += to - from;
  const first = pieces.find(({ status }) => status !== 'unknown')?.from ?? null;
  const since = stored.since ?? first;
  const { budget } = stored;
  return {
    ...daysWith(stored, pieces, now),
    uptime: stored.time === null ? null : uptimeOf(addTime(stored.time, more)),
    since,
    knownMs: since === null || since < stored.from + dayMs ? null : Math.max(0, now - since),
    budgetLeft: budget === null ? null : 1 - (budget.spentMs + more.down) / budget.allowedMs,
  };
}

function daysWith(
  { days, downMs, at }: StoredPast,
  pieces: ReturnType<typeof piecesSince>,
  now: number,
): Pick<Past, 'days' | 'downMs'> {
  const [before, today] = [Math.floor(at / dayMs), Math.floor(now / dayMs)];
  const passed = Math.max(0, today - before);
  const changesNothing = ({ status }: (typeof pieces)[number]) =>
    status !== 'down' && !isWorse(status, days.at(-1) ?? null);
  if (passed === 0 && pieces.every(changesNothing)) return { days, downMs };
  const all = { days: shifted(days, passed, null), downMs: shifted(downMs, passed, 0) };
  for (const { status, from, to } of pieces)
    for (let one = Math.floor(from / dayMs); one * dayMs < to; one += 1) {
      const index = days.length - 1 - (today - one);
      if (index < 0) continue;
      if (isWorse(status, all.days[index] ?? null)) all.days[index] = status;
      const ms = Math.min(to, (one + 1) * dayMs) - Math.max(from, one * dayMs);
      if (status === 'down') all.downMs[index] = (all.downMs[index] ?? 0) + ms;
    }
  return all;
}

const shifted = <Value>(all: readonly Value[], by: number, empty: Value): Value[] => [
  ...all.slice(by),
  ...Array.from({ length: Math.min(by, all.length) }, () => empty),
];

const rankOf = (stretch: DayState) => {
  const rank = worst.findIndex((one) => one === stretch);
  return rank === -1 ? worst.length : rank;
};
const isWorse = (one: DayState, other: DayState) => rankOf(one) < rankOf(other);

/**
 * The past of targets, kept for some minutes: looked up for viewers, a target at a time, and never without any. Disposal ends a
 * look-up under way before it resolves: the history may be closed then.
 */
export interface PastKeeper extends AsyncDisposable {
  /** How a target was up to now; null until it was looked up. */
  of(target: LiveTarget): Past | null;
  /** Looks up what is unknown of these, or too old. Resolves when the work is done, or `patienceMs` have gone by. */
  want(targets: readonly string[], patienceMs: number): Promise<void>;
  /** What was counts differently: all is looked up again when it is wanted. */
  renew(): void;
}

const freshMs = 5 * 60_000;
// An entry that is not read any more is dropped.
const keptMs = 60 * 60_000;
// So many targets in a row, and then others come first if these had to wait for them, or if there are many.
const inARow = 8;
const waitedMs = 4;
const many = 200;
const restShare = 4;
const longestRestMs = 1_000;

export function createPastKeeper(reader: HistoryReader, clock: Clock, failed: (error: unknown) => void): PastKeeper {
  const known = new Map<string, StoredPast>();
  const ending = new AbortController();
  let working: Promise<void> | null = null;
  let renewals = 0;

  const ageOf = (target: string) => clock.now() - (known.get(target)?.at ?? Number.NEGATIVE_INFINITY);

  const isFresh = (target: string) => ageOf(target) < freshMs && known.get(target)?.renewals === renewals;

  // On a machine that is starved it would take turns with what checks and reports, and thousands would take all that is left over.
  async function restAfter(begun: number, done: number): Promise<number> {
    const took = clock.elapsed() - begun;
    if (took > waitedMs || done >= many)
      await sleepUnlessAborted(clock, Math.min(restShare * took, longestRestMs), ending.signal);
    return clock.elapsed();
  }

  async function lookUp(targets: readonly string[]): Promise<void> {
    const renewed = renewals;
    // Most of many targets were up all the time.
    const [onceDays, onceDown] = [sharing<readonly DayState[]>(), sharing<readonly number[]>()];
    const budgets = new Map((await reader.budgets()).map((budget) => [budget.target, budget]));
    let begun = clock.elapsed();
    for (const [index, target] of targets.entries()) {
      if (index % inARow === 0) begun = await restAfter(begun, index);
      if (ending.signal.aborted) return;
      const at = clock.now();
      const from = (Math.floor(at / dayMs) - 89) * dayMs;
      const { parts } = await reader.series({ of: { target }, from, to: at, stepMs: dayMs, isTimeOnly: true });
      const isKnown = parts.every(({ verdictsFrom }) => verdictsFrom === null);
      known.set(target, {
        at,
        renewals: renewed,
        from,
        days: onceDays(parts.map(dayOf)),
        downMs: onceDown(parts.map((part) => part.time?.down ?? 0)),
        time: isKnown ? parts.reduce((sum, { time }) => addTime(sum, time ?? noTime), noTime) : null,
        since: parts.find((part) => part.since !== null)?.since ?? null,
        budget: budgets.get(target) ?? null,
      });
    }
    for (const name of known.keys()) if (ageOf(name) > keptMs) known.delete(name);
  }

  return {
    of(target) {
      const stored = known.get(target.name);
      return stored === undefined ? null : pastNow(stored, target, clock.now());
    },
    async want(targets, patienceMs) {
      const wanted = targets.filter((target) => !isFresh(target));
      if (wanted.length === 0 || ending.signal.aborted) return;
      working ??= lookUp(wanted)
        .catch(failed)
        .finally(() => (working = null));
      await Promise.race([working, new Promise<void>((resolve) => clock.after(patienceMs, resolve))]);
    },
    renew: () => void (renewals += 1),
    async [Symbol.asyncDispose]() {
      ending.abort(new Error('the program ends'));
      await working;
    },
  };
}
