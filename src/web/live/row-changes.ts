import type { Clock } from '#kernel/clock.ts';
import { createRests } from '#kernel/turns.ts';
import { formatSeconds } from '#kernel/units.ts';
import { sparkHeights, sparkPath } from '../pages/drawings.ts';
import { rowFacts } from '../pages/overview.ts';
import type { Past } from '../pages/past.ts';
import type { LiveTarget } from '../state/board.ts';
import { type ShownState, stateOf } from '../state/shown.ts';

/**
 * One more round in a row that is otherwise as it was: the name of the target, the number of the round, the new point of the sparkline (its
 * height, or the whole path if the scale is another), the last time in words, and 1 if no point leaves the sparkline for it.
 */
export type RowTick = readonly [name: string, round: number, point: number | string | null, text: string, isLonger?: 1];

/** What has become of a row since all viewers had it: the same, one more round, or another row. */
export type RowChange =
  | { readonly kind: 'none' }
  | { readonly kind: 'tick'; readonly tick: RowTick }
  | { readonly kind: 'row'; readonly before: ShownState | null };

const statuses = ['up', 'down', 'unknown'] as const;

/** What is remembered of a row as viewers have it. */
interface SentRow extends Pick<LiveTarget, 'rounds'> {
  /** The heights of its sparkline: small numbers, where times would be an object each. */
  readonly heights: readonly (number | null)[];
  /** Who voted what, as text of a character for each vote: the votes themselves would be held here when the board has newer ones. */
  readonly votes: string;
  readonly state: ShownState;
  readonly facts: readonly unknown[];
}

export interface RowChanges {
  /**
   * Remembers all rows as they are, in turns: a viewer that comes has them. It stops when `isWanted` says no, because then viewers
   * may have older ones; those that it has not come to are sent whole.
   */
  remember(targets: readonly LiveTarget[], isWanted: () => boolean): Promise<void>;
  /** What has become of these targets between two versions. The same for every view that asks. */
  between(from: number, to: number, changed: readonly LiveTarget[]): ReadonlyMap<string, RowChange>;
}

/**
 * Compares rows with those that viewers have. A viewer may have others: a tick names its round, so that it is not applied to any row but
 * that of the round before.
 */
export function createRowChanges(
  pastOf: (target: LiveTarget) => Past | null,
  clock: Pick<Clock, 'elapsed'>,
): RowChanges {
  const rows = new Map<string, SentRow>();
  const numbers = new Map<string, number>();
  let last: { readonly from: number; readonly to: number; readonly changes: ReadonlyMap<string, RowChange> } | null =
    null;

  const numberOf = (node: string) => {
    const number = numbers.get(node) ?? numbers.size;
    numbers.set(node, number);
    return number;
  };
  const textOf = (votes: LiveTarget['votes']) =>
    String.fromCharCode(
      ...votes.statuses().map(({ node, status }) => numberOf(node.name) * statuses.length + statuses.indexOf(status)),
    );

  function remember(target: LiveTarget): SentRow {
    const { recent, rounds } = target;
    const votes = textOf(target.votes);
    const facts = rowFacts(target, pastOf(target));
    const now = { votes, heights: sparkHeights(recent), rounds, state: stateOf(target), facts };
    rows.set(target.name, now);
    return now;
  }

  function changeOf(target: LiveTarget): RowChange {
    const before = rows.get(target.name);
    const now = remember(target);
    if (before === undefined) return { kind: 'row', before: null };
    if (!isSame(before.facts, now.facts) || before.votes !== now.votes) return { kind: 'row', before: before.state };
    if (before.rounds === now.rounds) return { kind: 'none' };
    const tick = now.rounds === before.rounds + 1 ? tickOf(target, before, now) : null;
    return tick === null ? { kind: 'row', before: before.state } : { kind: 'tick', tick };
  }

  return {
    async remember(targets, isWanted) {
      if (isWanted()) rows.clear();
      // Few turns: on a starved machine each waits for much else.
      const rest = createRests(clock);
      for (const target of targets) {
        if (!isWanted()) return;
        remember(target);
        await rest();
      }
    },
    between(from, to, changed) {
      if (last?.from === from && last.to === to) return last.changes;
      const changes = new Map(changed.map((target) => [target.name, changeOf(target)] as const));
      last = { from, to, changes };
      return changes;
    },
  };
}

const isSame = (one: readonly unknown[], other: readonly unknown[]) =>
  one.length === other.length && one.every((value, index) => value === other[index]);

function tickOf(
  { name, recent }: Pick<LiveTarget, 'name' | 'recent'>,
  { heights: heightsBefore }: SentRow,
  { heights, rounds }: SentRow,
): RowTick | null {
  // Without a line there is none to go on with.
  if (!isLine(heightsBefore) || !isLine(heights)) return null;
  const isLonger = heights.length > heightsBefore.length;
  const last = recent.findLast((one) => one !== null) ?? null;
  const text = last === null ? '' : formatSeconds(last);
  const goesOn = isSame(isLonger ? heightsBefore : heightsBefore.slice(1), heights.slice(0, -1));
  const point = goesOn ? (heights.at(-1) ?? null) : sparkPath(heights);
  return isLonger ? [name, rounds, point, text, 1] : [name, rounds, point, text];
}

const isLine = (heights: readonly (number | null)[]) => heights.filter((height) => height !== null).length > 1;
