import { Distribution, JoinedLabels, type SeriesLabels, LabelSet, Sample, type MetricSeries } from './series.ts';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** What stands over the series of a metric. */
export interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
}

/** A metric with its series, to be written. */
export interface ShownFamily extends FamilyHead, Iterable<MetricSeries> {}

/** A metric with all its series, in the order in which they came. */
export class Family<S extends MetricSeries = Sample> implements ShownFamily {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly #create: (labels: LabelSet | JoinedLabels, more: LabelSet | null) => S;
  #series = new Set<S>();

  constructor(
    type: MetricType,
    name: string,
    help: string,
    create: (labels: LabelSet | JoinedLabels, more: LabelSet | null) => S,
  ) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.#create = create;
  }

  /** A new series, which its caller keeps: no other may have these labels. Those of many series are best given as one set. */
  add(labels: SeriesLabels | LabelSet | JoinedLabels, more: LabelSet | null = null): S {
    const isSet = labels instanceof LabelSet || labels instanceof JoinedLabels;
    const series = this.#create(isSet ? labels : new LabelSet(labels), more);
    this.#series.add(series);
    return series;
  }

  remove(series: S): void {
    this.#series.delete(series);
  }

  /** Drops all series; an iteration under way goes on with those that were. */
  clear(): void {
    this.#series = new Set();
  }

  [Symbol.iterator](): Iterator<S> {
    return this.#series.values();
  }
}

/** The metrics of targets on nodes. Each is written as it is when its turn comes. */
export class Register {
  #families: readonly ShownFamily[] = [];
  #births = 0;

  /** How many series that start at 0 there have been. */
  get births(): number {
    return this.#births;
  }

  get families(): readonly ShownFamily[] {
    return this.#families;
  }

  /** Counts one more that starts at 0. */
  bear(): number {
    return (this.#births += 1);
  }

  /** A gauge whose series show nothing until they have a value. */
  gauge(name: string, help: string): Family {
    return this.#keep(new Family('gauge', name, help, (labels, more) => new Sample(labels, null, 0, more)));
  }

  /** A counter whose series start at 0 when they come. */
  counter(name: string, help: string): Family {
    return this.#keep(new Family('counter', name, help, (labels, more) => new Sample(labels, 0, this.bear(), more)));
  }

  histogram(name: string, help: string, bounds: readonly number[]): Family<Distribution> {
    return this.#keep(new Family('histogram', name, help, (labels) => new Distribution(labels, bounds, this.bear())));
  }

  /** A gauge whose series are made when they are written. */
  view(name: string, help: string, series: () => Iterator<Sample>): void {
    this.#families = [...this.#families, { name, help, type: 'gauge', [Symbol.iterator]: series }];
  }

  /** Takes families out, with all their series. */
  drop(families: Iterable<ShownFamily>): void {
    const gone = new Set(families);
    this.#families = this.#families.filter((family) => !gone.has(family));
  }

  #keep<S extends MetricSeries>(family: Family<S>): Family<S> {
    this.#families = [...this.#families, family];
    return family;
  }
}
