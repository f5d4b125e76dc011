import { Distribution, type SeriesLabels, LabelSet, Sample, type MetricSeries } from './series.ts';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** What stands over the series of a metric. */
export interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
}

/** A metric with its series, to be written. */
export interface ShownFamily extends FamilyHead, Iterable<MetricSeries> {}

type CreateSeries<S> = (labels: LabelSet, birth: number, more: LabelSet | null) => S;

/** A metric with all its series, in the order in which they came. */
export class Family<S extends MetricSeries = Sample> implements ShownFamily {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly #create: CreateSeries<S>;
  readonly #bear: () => number;
  #series = new Set<S>();
  #named = new Map<string, S>();
  // A series that is shown anew has not begun anew.
  readonly #births = new Map<string, number>();

  /** `bear` gives the birth of a series, 0 if it does not start at 0. */
  constructor({ type, name, help }: FamilyHead, bear: () => number, create: CreateSeries<S>) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.#bear = bear;
    this.#create = create;
  }

  /** A new series, which its caller keeps: no other may have these labels. Those of many series are best given as one set. */
  add(labels: SeriesLabels | LabelSet, more: LabelSet | null = null): S {
    const series = this.#create(labels instanceof LabelSet ? labels : new LabelSet(labels), this.#bear(), more);
    this.#series.add(series);
    return series;
  }

  /** The series with these labels, made when it is asked for first. For families whose series no caller keeps. */
  of(labels: SeriesLabels = {}): S {
    const key = Object.values(labels).join('\0');
    let series = this.#named.get(key);
    if (series !== undefined) return series;
    const birth = this.#births.get(key) ?? this.#bear();
    this.#births.set(key, birth);
    this.#named.set(key, (series = this.#create(new LabelSet(labels), birth, null)));
    this.#series.add(series);
    return series;
  }

  remove(series: S): void {
    this.#series.delete(series);
  }

  /** Drops all series; an iteration under way goes on with those that were. */
  clear(): void {
    this.#series = new Set();
    this.#named = new Map();
  }

  [Symbol.iterator](): Iterator<S> {
    return this.#series.values();
  }
}

/** All metrics. Each is written as it is when its turn comes. */
export class Register {
  #families: readonly ShownFamily[] = [];
  #births = 0;
  readonly #bear = () => (this.#births += 1);

  /** How many series that start at 0 there have been. */
  get births(): number {
    return this.#births;
  }

  get families(): readonly ShownFamily[] {
    return this.#families;
  }

  /** A gauge whose series show nothing until they have a value. */
  gauge(name: string, help: string): Family {
    return this.#keep(
      new Family({ type: 'gauge', name, help }, unborn, (labels, birth, more) => new Sample(labels, null, birth, more)),
    );
  }

  /** A counter whose series start at 0: when they come, or with the process, whenever they come. */
  counter(name: string, help: string, since: 'birth' | 'start' = 'birth'): Family {
    const bear = since === 'birth' ? this.#bear : unborn;
    return this.#keep(
      new Family({ type: 'counter', name, help }, bear, (labels, birth, more) => new Sample(labels, 0, birth, more)),
    );
  }

  histogram(name: string, help: string, bounds: readonly number[]): Family<Distribution> {
    return this.#keep(
      new Family(
        { type: 'histogram', name, help },
        this.#bear,
        (labels, birth) => new Distribution(labels, bounds, birth),
      ),
    );
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

const unborn = () => 0;
