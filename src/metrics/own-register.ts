import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import { NativeBuckets } from './native-buckets.ts';
import type { MetricType, ShownFamily } from './register.ts';
import { Distribution, type SeriesLabels, LabelSet, Sample, type MetricSeries } from './series.ts';

/** A histogram of prom-client with the buckets of a native one beside it, which prom-client does not have. */
export interface OwnHistogram<L extends string> {
  observe(labels: Record<L, string>, seconds: number): void;
  /** Shows it with nothing observed. */
  zero(labels: Record<L, string>): void;
}

interface MetricFamily {
  readonly type: MetricType;
  readonly bounds: readonly number[];
  /** Whether a series starts at 0 for a scraper that has not seen it. */
  readonly isBorn: boolean;
  /** By the values of its labels. */
  readonly natives: ReadonlyMap<string, NativeBuckets>;
}

type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number]['values'];

const none: Pick<MetricFamily, 'bounds' | 'natives'> = { bounds: [], natives: new Map() };

/** The program's own metrics: a registry of prom-client, which is made for series as few as these. */
export class OwnRegister {
  readonly #registry = new Registry();
  readonly #kept = new Map<string, MetricFamily>();
  readonly #births = new Map<string, number>();
  readonly #bear: () => number;

  /** `bear` counts what begins at 0. */
  constructor(bear: () => number) {
    this.#bear = bear;
  }

  /** A gauge that shows nothing until it has a value. */
  gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    this.#kept.set(name, { ...none, type: 'gauge', isBorn: false });
    const gauge = new Gauge({ name, help, labelNames, registers: [this.#registry] });
    // prom-client begins one without labels at 0.
    if (labelNames.length === 0) gauge.remove();
    return gauge;
  }

  /** A counter whose series begin at 0: when they come, or with the process, whenever they come. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    since: 'birth' | 'start' = 'birth',
  ): Counter<L> {
    this.#kept.set(name, { ...none, type: 'counter', isBorn: since === 'birth' });
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    bounds: readonly number[],
    labelNames: readonly L[] = [],
  ): OwnHistogram<L> {
    const natives = new Map<string, NativeBuckets>();
    this.#kept.set(name, { type: 'histogram', bounds, isBorn: true, natives });
    const histogram = new Histogram({ name, help, labelNames, buckets: [...bounds], registers: [this.#registry] });
    return {
      observe(labels, seconds) {
        histogram.observe(labels, seconds);
        const key = keyOf(labels);
        let native = natives.get(key);
        if (native === undefined) natives.set(key, (native = new NativeBuckets()));
        native.observe(seconds);
      },
      zero: (labels) => histogram.zero(labels),
    };
  }

  /** All of it as it is now. */
  async families(): Promise<readonly ShownFamily[]> {
    const all = await this.#registry.getMetricsAsJSON();
    return all.flatMap(({ name, help, values }) => {
      const kept = this.#kept.get(name);
      if (kept === undefined) return [];
      const series =
        kept.type === 'histogram' ? this.#distributions(name, kept, values) : this.#samples(name, kept, values);
      return [{ name, help, type: kept.type, [Symbol.iterator]: () => series.values() }];
    });
  }

  #samples(name: string, kept: MetricFamily, values: MetricValues): readonly MetricSeries[] {
    return values.map(({ labels, value }) => {
      const set = new LabelSet(textsOf(labels));
      return new Sample(set, value, this.#birthOf(name, kept, set));
    });
  }

  #distributions(name: string, kept: MetricFamily, values: MetricValues): readonly MetricSeries[] {
    const found = new Map<string, { labels: SeriesLabels; below: number[]; sum: number; count: number }>();
    for (const one of values) {
      const { le, ...labels } = textsOf(one.labels);
      const key = keyOf(labels);
      let of = found.get(key);
      if (of === undefined) found.set(key, (of = { labels, below: [], sum: 0, count: 0 }));
      if (le !== undefined) of.below.push(one.value);
      else if ('metricName' in one && one.metricName === `${name}_sum`) of.sum = one.value;
      else of.count = one.value;
    }
    return [...found].map(([key, { labels, below, sum, count }]) => {
      const counts = kept.bounds.map((_, place) => (below[place] ?? 0) - (below[place - 1] ?? 0));
      const native = kept.natives.get(key) ?? new NativeBuckets();
      const set = new LabelSet(labels);
      return new Distribution(set, kept.bounds, this.#birthOf(name, kept, set), { counts, sum, count, native });
    });
  }

  #birthOf(name: string, { isBorn }: MetricFamily, { text }: LabelSet): number {
    if (!isBorn) return 0;
    const key = `${name}{${text}}`;
    let birth = this.#births.get(key);
    if (birth === undefined) this.#births.set(key, (birth = this.#bear()));
    return birth;
  }
}

/** Shows a value, or nothing if there is none. */
export function setOrRemove(gauge: Gauge, value: number | null): void {
  if (value === null) gauge.remove();
  else gauge.set(value);
}

const keyOf = (labels: SeriesLabels) => Object.values(labels).join('\0');

const textsOf = (labels: MetricValues[number]['labels']): SeriesLabels =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
