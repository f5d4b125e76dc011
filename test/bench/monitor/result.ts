import { spreadOf, type Spread, unevennessOf } from './lateness.ts';
import type { Kind } from './targets.ts';

export type Subject = 'watchpost' | 'blackbox_exporter' | 'Prometheus' | 'fping' | 'bare loop';

/** What one program needed for some targets. */
export interface Result {
  readonly kind: Kind;
  readonly targets: number;
  readonly subject: Subject;
  readonly checks: number;
  /** Microseconds of CPU for each check, all threads. */
  readonly cpuUs: number;
  /** Milliseconds from when a check was due to the connection at the target, by the target's clock; null where it was not seen. */
  readonly late: Spread | null;
  /** Bytes in memory. */
  readonly memory: number | null;
  /** Bytes of living objects after a collection. */
  readonly liveHeap: number | null;
  /** Bytes written to the disk for each check. */
  readonly written: number | null;
}

/** How long everybody runs before being measured, and how long that takes. */
export interface Times {
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

export const cpuUsOf = (seconds: number, checks: number) => (seconds * 1e6) / checks;

/** How uneven the arrivals of programs are that do not tell when a check was due. */
export function unevenness(at: Readonly<Record<string, readonly number[]>>, intervalMs: number) {
  const late = Object.values(at).flatMap((arrivals) => unevennessOf(arrivals, intervalMs));
  return { checks: late.length, late: spreadOf(late) };
}
