import { dayMs } from '#kernel/units.ts';
/** A silence: notifications of these targets are suppressed for a while, at an operator's request. */
export interface Silence {
  readonly id: string;
  /** Names of targets, or all there are. */
  readonly targets: 'all' | readonly string[];
  readonly why: string;
  readonly from: number;
  /** When it ends, or ended. */
  readonly until: number;
}

/** A silence that is asked for. */
export interface SilenceRequest extends Pick<Silence, 'targets' | 'why'> {
  /** When it begins, or null for now. */
  readonly from: number | null;
  readonly forMs: number;
}

/** The silence that holds for a target at a moment, the one that ends last of several; null if none does. */
export function silenceAt(silences: Iterable<Silence>, target: string, at: number): Silence | null {
  let latest: Silence | null = null;
  for (const silence of silences) {
    if (at < silence.from || at >= silence.until) continue;
    if (silence.targets !== 'all' && !silence.targets.includes(target)) continue;
    if (latest === null || silence.until > latest.until) latest = silence;
  }
  return latest;
}

/** The silences that are known. */
export interface Silences {
  /** Adds a silence, or changes the one of its id; those that ended long ago are forgotten. */
  put(silence: Silence, now: number): void;
  /** The one that held, holds or will hold for a target at a moment: see `silenceAt`. */
  at(target: string, moment: number): Silence | null;
  /** Those that end after a moment. */
  after(moment: number): readonly Silence[];
}

// An observation that arrives later than this is judged as if there had been no silence.
const keptMs = 30 * dayMs;

export function createSilences(): Silences {
  const known = new Map<string, Silence>();
  return {
    put(silence, now) {
      for (const { id, until } of known.values()) if (until < now - keptMs) known.delete(id);
      known.set(silence.id, silence);
    },
    at: (target, moment) => silenceAt(known.values(), target, moment),
    after: (moment) => [...known.values()].filter(({ until }) => until > moment),
  };
}
