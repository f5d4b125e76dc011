/** Times at equal distances. */
interface TimeSequence {
  readonly first: number;
  /** 0 if there is only one. */
  step: number;
  count: number;
}

/**
 * Due times of one target in ascending order, each once, in milliseconds since the epoch. A schedule makes them at equal distances:
 * then they take the same room, however many they are.
 */
export class DueTimes {
  #sequences: TimeSequence[] = [];

  /** The latest one; negative infinity if there is none. */
  get last(): number {
    const newest = this.#sequences.at(-1);
    return newest === undefined ? Number.NEGATIVE_INFINITY : lastOf(newest);
  }

  add(dueAt: number): void {
    const sequences = this.#sequences;
    const newest = sequences.at(-1);
    if (newest !== undefined && isNext(newest, dueAt)) {
      newest.step = dueAt - lastOf(newest);
      newest.count += 1;
      return;
    }
    // From the end: what is added is mostly the newest.
    let index = sequences.length - 1;
    while ((sequences[index]?.first ?? dueAt) > dueAt) index -= 1;
    const before = sequences[index];
    if (before !== undefined && dueAt <= lastOf(before)) {
      if (!has(before, dueAt)) sequences.splice(index, 1, ...splitAt(before, dueAt));
      return;
    }
    // An empty list that grows takes room for sixteen more.
    if (newest === undefined) this.#sequences = [{ first: dueAt, step: 0, count: 1 }];
    else sequences.splice(index + 1, 0, { first: dueAt, step: 0, count: 1 });
    if (!this.#joinNext(index)) index += 1;
    this.#joinNext(index);
  }

  /** Those from `from` until before `to`. */
  between(from: number, to: number): readonly number[] {
    return this.#sequences.flatMap((one) => {
      const index = countBefore(one, from);
      const length = countBefore(one, to) - index;
      return Array.from({ length: Math.max(0, length) }, (_, more) => one.first + one.step * (index + more));
    });
  }

  dropBefore(dueAt: number): void {
    if ((this.#sequences[0]?.first ?? dueAt) >= dueAt) return;
    const left = this.#sequences.flatMap((one) => {
      const dropped = countBefore(one, dueAt);
      return dropped === 0 ? one : sequenceOf(one.first + one.step * dropped, one.step, one.count - dropped);
    });
    this.#sequences = left.slice();
  }

  /** Makes one of a sequence and the next one if all their times are at equal distances; returns whether they are. */
  #joinNext(index: number): boolean {
    const [one, next] = [this.#sequences[index], this.#sequences[index + 1]];
    if (one === undefined || next === undefined) return false;
    const step = next.first - lastOf(one);
    if ([one, next].some((either) => either.count > 1 && either.step !== step)) return false;
    this.#sequences.splice(index, 2, { first: one.first, step, count: one.count + next.count });
    return true;
  }
}

function isNext(sequence: TimeSequence, dueAt: number): boolean {
  const step = dueAt - lastOf(sequence);
  return step > 0 && (sequence.count === 1 || step === sequence.step);
}

function lastOf({ first, step, count }: TimeSequence): number {
  return first + step * (count - 1);
}

function has({ first, step }: TimeSequence, dueAt: number): boolean {
  return dueAt === first || (dueAt - first) % step === 0;
}

/** How many of them are earlier. */
function countBefore(sequence: TimeSequence, dueAt: number): number {
  if (dueAt <= sequence.first) return 0;
  return dueAt > lastOf(sequence) ? sequence.count : Math.ceil((dueAt - sequence.first) / sequence.step);
}

/** With one more between two of them. */
function splitAt(sequence: TimeSequence, dueAt: number): readonly TimeSequence[] {
  const { first, step, count } = sequence;
  const before = countBefore(sequence, dueAt);
  return [
    ...sequenceOf(first, step, before),
    ...sequenceOf(dueAt, 0, 1),
    ...sequenceOf(first + step * before, step, count - before),
  ];
}

/** None, if there are no times. */
function sequenceOf(first: number, step: number, count: number): readonly TimeSequence[] {
  return count === 0 ? [] : [{ first, step: count === 1 ? 0 : step, count }];
}
