/** Nobody is told of what begins at these targets for a while: somebody said so while the program ran. */
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

/** The silence that holds for a target at a moment, the one that ends last of several; null where none does. */
export function silenceAt(silences: Iterable<Silence>, target: string, at: number): Silence | null {
  let latest: Silence | null = null;
  for (const silence of silences) {
    if (at < silence.from || at >= silence.until) continue;
    if (silence.targets !== 'all' && !silence.targets.includes(target)) continue;
    if (latest === null || silence.until > latest.until) latest = silence;
  }
  return latest;
}
