import type { Clock } from '#kernel/clock.ts';
import { type Phase, toSeconds } from '../outcome.ts';

/** Times the phases of one probe. A phase that comes again, after a redirect, adds up. */
export class Stopwatch {
  /** What is waited for now, in words. */
  waitingFor = 'the connection';
  readonly #clock: Clock;
  readonly #spans = new Map<Phase, number>();
  #running: Phase | null = null;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the running phase and begins another. */
  begin(phase: Phase, waitingFor: string): void {
    this.end();
    this.waitingFor = waitingFor;
    this.#running = phase;
    this.#since = this.#clock.elapsed();
  }

  /** Ends the running phase and begins another, at a moment of the monotonic clock that may have passed. */
  beginAt(moment: number, phase: Phase, waitingFor: string): void {
    const since = this.#running === null ? moment : Math.max(moment, this.#since);
    this.endAt(since);
    this.waitingFor = waitingFor;
    this.#running = phase;
    this.#since = since;
  }

  /** Begins the running phase anew at a moment of the monotonic clock: what it took until then was our own doing. */
  restartAt(moment: number): void {
    this.#since = moment;
  }

  /** Ends the running phase; `seconds` replaces our measurement if a better one is known. */
  end(knownSeconds?: number | null): void {
    if (typeof knownSeconds === 'number') this.#stop(knownSeconds * 1_000);
    else this.endAt(this.#clock.elapsed());
  }

  /** Ends the running phase at a moment of the monotonic clock that may have passed. */
  endAt(moment: number): void {
    // What came before the phase began did not take any of its time.
    this.#stop(Math.max(0, moment - this.#since));
  }

  /** Adds a time measured elsewhere. */
  add(phase: Phase, seconds: number): void {
    this.#spans.set(phase, (this.#spans.get(phase) ?? 0) + seconds * 1_000);
  }

  get phases(): Partial<Record<Phase, number>> {
    const phases: Partial<Record<Phase, number>> = {};
    for (const [phase, ms] of this.#spans) phases[phase] = toSeconds(ms);
    return phases;
  }

  /** All phases but resolution; resolution if nothing came after it. */
  get seconds(): number {
    if (this.#spans.size === 1) return toSeconds(this.#spans.get('resolve') ?? this.#total());
    return toSeconds(this.#total() - (this.#spans.get('resolve') ?? 0));
  }

  #stop(ms: number): void {
    if (this.#running === null) return;
    this.#spans.set(this.#running, (this.#spans.get(this.#running) ?? 0) + ms);
    this.#running = null;
  }

  #total(): number {
    let sum = 0;
    for (const ms of this.#spans.values()) sum += ms;
    return sum;
  }
}
