import { dayMs } from '#kernel/units.ts';
import { follow, type RoundVerdict, type VerdictPeriod } from './verdict-periods.ts';

/** A stretch of time in which a target was down for so long. */
interface DowntimePart {
  from: number;
  to: number;
  downMs: number;
}

/**
 * When a target was down in the last `reachMs`, kept in memory so that a question costs no look at what is stored. What is older than a
 * hundredth of that is kept by slices of a 720th: hours, if it reaches back 30 days. A window that begins in one is taken to hold
 * its share of it.
 */
export class Downtime {
  readonly #reachMs: number;
  readonly #exactMs: number;
  readonly #sliceMs: number;
  #pieces: DowntimePart[] = [];
  /** How many of the oldest pieces are slices already. */
  #sliced = 0;
  #newest: VerdictPeriod | null = null;

  constructor(reachMs = 30 * dayMs) {
    this.#reachMs = reachMs;
    this.#exactMs = reachMs / 100;
    this.#sliceMs = reachMs / 720;
  }

  /** Takes in what followed from a round. One that is older than what is known changes nothing. */
  note(at: number, verdict: RoundVerdict): void {
    const next = follow(this.#newest, at, verdict);
    if (next !== null) this.#take(next);
  }

  /** Begins anew with these, the oldest first. */
  fill(periods: readonly VerdictPeriod[]): void {
    this.#pieces = [];
    this.#sliced = 0;
    this.#newest = null;
    for (const period of periods) this.#take(period);
  }

  /** How long it was down from `from` until `now`, in milliseconds. Maintenance does not count. */
  since(from: number, now: number): number {
    let sum = 0;
    const newest = this.#newest;
    if (newest !== null && isDown(newest)) sum += overlap(newest.from, endOf(newest, now), from, now);
    for (let index = this.#pieces.length - 1; index >= 0; index -= 1) {
      const piece = this.#pieces[index];
      if (piece === undefined || piece.to <= from) break;
      sum += (piece.downMs * overlap(piece.from, piece.to, from, now)) / (piece.to - piece.from);
    }
    return sum;
  }

  /** How many stretches of time it has in memory. */
  get pieces(): number {
    return this.#pieces.length;
  }

  #take(next: VerdictPeriod): void {
    const last = this.#newest;
    this.#newest = next;
    if (last === null || last.from === next.from) return;
    if (isDown(last)) {
      const to = endOf(last, next.from);
      if (to > last.from) this.#pieces.push({ from: last.from, to, downMs: to - last.from });
    }
    this.#forget(next.from - this.#reachMs);
    this.#slice(next.from - this.#exactMs);
  }

  #forget(before: number): void {
    const kept = this.#pieces.findIndex(({ to }) => to > before);
    const gone = kept === -1 ? this.#pieces.length : kept;
    if (gone === 0) return;
    this.#pieces.splice(0, gone);
    this.#sliced = Math.max(0, this.#sliced - gone);
  }

  #slice(before: number): void {
    for (;;) {
      const piece = this.#pieces[this.#sliced];
      if (piece === undefined || piece.to >= before) return;
      const last = this.#pieces[this.#sliced - 1];
      if (last === undefined || this.#sliceOf(last) !== this.#sliceOf(piece)) this.#sliced += 1;
      else {
        last.to = piece.to;
        last.downMs += piece.downMs;
        this.#pieces.splice(this.#sliced, 1);
      }
    }
  }

  #sliceOf({ to }: DowntimePart): number {
    return Math.floor(to / this.#sliceMs);
  }
}

const isDown = ({ status, inMaintenance }: VerdictPeriod) => status === 'down' && !inMaintenance;

const endOf = ({ last, holdsMs }: VerdictPeriod, next: number) => Math.min(last + holdsMs, next);

function overlap(from: number, to: number, start: number, end: number): number {
  return Math.max(0, Math.min(to, end) - Math.max(from, start));
}
