import { type CheckTypeName, checkOf, type MeasuredValue, type Outcome } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import type { TimeSpan } from './span.ts';

/** How fine measured values are kept: the least, the mean and the greatest of each so many milliseconds. */
export const measuredStepMs = 300_000;

/** The most labels that are kept of a target at a node in an hour; further ones are counted. */
export const mostLabels = 50;

/** Values that a node's check of a target gave names of its own, such as performance data of plugins. */
export interface Measurement {
  readonly target: string;
  readonly node: string;
  /** When the check was due, in milliseconds since the epoch. */
  readonly at: number;
  readonly values: readonly Pick<MeasuredValue, 'label' | 'value' | 'unit' | 'warning' | 'critical'>[];
}

export interface MeasuredStep {
  /** When its step begins. */
  readonly at: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

/** A label at a node, with what was last said about it. */
export interface MeasuredSeries extends Pick<MeasuredValue, 'label' | 'unit' | 'warning' | 'critical'> {
  readonly node: string;
  /** The oldest first; steps without a value are not there. */
  readonly points: readonly MeasuredStep[];
}

export interface MeasuredPast {
  readonly series: readonly MeasuredSeries[];
  /** How often a value was not kept, because its hour had `mostLabels` others. */
  readonly omitted: number;
}

/** Where measured values are kept, as long as single results are. */
export interface MeasurementStore {
  addMeasurements(all: readonly Measurement[]): void;
  /** By label and node. */
  measured(target: string, span: TimeSpan): MeasuredPast;
}

/** Collects the values of rounds, and stores them every few seconds. */
export interface MeasurementKeeper extends Disposable {
  roundDone(target: string, check: CheckTypeName, dueAt: number, votes: readonly MeasuredVote[]): void;
}

interface MeasuredVote {
  readonly node: { readonly name: string };
  readonly outcome: Outcome;
}

const storedEveryMs = 5_000;
const mostWaiting = 2_000;

/** `failed` hears what could not be stored; it is dropped. Disposing stores what waits. */
export function createMeasurementKeeper(
  store: Pick<MeasurementStore, 'addMeasurements'>,
  clock: Pick<Clock, 'after'>,
  failed: (error: unknown) => void,
): MeasurementKeeper {
  let waiting: Measurement[] = [];
  let timer: Disposable | null = null;

  function storeAll(): void {
    timer?.[Symbol.dispose]();
    timer = null;
    const all = waiting;
    waiting = [];
    if (all.length === 0) return;
    try {
      store.addMeasurements(all);
    } catch (error) {
      failed(error);
    }
  }

  return {
    roundDone(target, check, at, votes) {
      const valuesOf = checkOf(check).values;
      if (valuesOf === null) return;
      for (const { node, outcome } of votes) {
        const values = valuesOf(outcome).map(({ label, value, unit, warning, critical }) => {
          return { label, value, unit, warning, critical };
        });
        if (values.length > 0) waiting.push({ target, node: node.name, at, values });
      }
      if (waiting.length >= mostWaiting) storeAll();
      else if (waiting.length > 0) timer ??= clock.after(storedEveryMs, storeAll);
    },
    [Symbol.dispose]: storeAll,
  };
}
