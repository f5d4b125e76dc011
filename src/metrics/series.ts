import { NativeBuckets } from './native-buckets.ts';

// What grows with targets times nodes: its holders change it directly, and only what is needed to write it is kept.

export type SeriesLabels = Readonly<Record<string, string>>;

/** Takes texts one after the other. */
interface TextTaker {
  text(text: string): void;
  /** The text of something that is often written many times in a row. */
  textOf(of: object, text: string): void;
}

/** Labels that many series share, with how they stand between the braces. */
export class LabelSet {
  readonly labels: SeriesLabels;
  readonly text: string;

  constructor(labels: SeriesLabels) {
    this.labels = labels;
    this.text = labelTextOf(labels);
  }

  writeTo(writer: TextTaker): void {
    writer.textOf(this, this.text);
  }
}

/** Labels of two sets, the first ones first. Of targets on nodes there are many: each has its own text only while it is written. */
export class JoinedLabels {
  readonly #first: LabelSet;
  readonly #second: LabelSet;

  constructor(first: LabelSet, second: LabelSet) {
    this.#first = first;
    this.#second = second;
  }

  get labels(): SeriesLabels {
    return { ...this.#first.labels, ...this.#second.labels };
  }

  writeTo(writer: TextTaker): void {
    this.#first.writeTo(writer);
    writer.text(',');
    // The first ones are the same in the next series, as a rule.
    writer.text(this.#second.text);
  }
}

/** A counter's or a gauge's value; null while there is none to export. */
export class Sample {
  value: number | null;
  /** Counts what starts at 0, from 1, in the order in which it came; 0 for what does not. */
  readonly birth: number;
  readonly #shared: LabelSet | JoinedLabels;
  readonly #more: LabelSet | null;

  /** `more` are labels beside those that it shares with others of its target. */
  constructor(shared: LabelSet | JoinedLabels, value: number | null, birth: number, more: LabelSet | null = null) {
    this.#shared = shared;
    this.#more = more;
    this.value = value;
    this.birth = birth;
  }

  get labels(): SeriesLabels {
    return this.#more === null ? this.#shared.labels : { ...this.#shared.labels, ...this.#more.labels };
  }

  /** Writes them as they stand between the braces. */
  writeLabels(writer: TextTaker): void {
    this.#shared.writeTo(writer);
    if (this.#more === null) return;
    writer.text(',');
    writer.text(this.#more.text);
  }

  add(amount = 1): void {
    this.value = (this.value ?? 0) + amount;
  }
}

/** What was observed before, elsewhere. */
interface HistogramState {
  /** In each bucket for itself. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
  readonly native: NativeBuckets;
}

/** How many observations lay at or below each bound, and the same in the buckets of a native histogram. */
export class Distribution {
  readonly birth: number;
  readonly native: NativeBuckets;
  readonly #shared: LabelSet | JoinedLabels;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum: number;
  #count: number;

  constructor(
    shared: LabelSet | JoinedLabels,
    bounds: readonly number[],
    birth: number,
    observed: HistogramState | null = null,
  ) {
    this.#shared = shared;
    this.birth = birth;
    this.native = observed?.native ?? new NativeBuckets();
    this.#bounds = bounds;
    this.#counts = bounds.map((_, place) => observed?.counts[place] ?? 0);
    this.#sum = observed?.sum ?? 0;
    this.#count = observed?.count ?? 0;
  }

  get labels(): SeriesLabels {
    return this.#shared.labels;
  }

  writeLabels(writer: TextTaker): void {
    this.#shared.writeTo(writer);
  }

  observe(value: number): void {
    let place = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      place += 1;
    }
    const count = this.#counts[place];
    if (count !== undefined) this.#counts[place] = count + 1;
    this.#sum += value;
    this.#count += 1;
    this.native.observe(value);
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  /** The same before anything was observed. */
  get empty(): Distribution {
    return new Distribution(this.#shared, this.#bounds, this.birth);
  }

  get bounds(): readonly number[] {
    return this.#bounds;
  }

  /** How many observations lay in each bucket for itself, in the order of the bounds. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  /** Each bound with how many observations lay at or below it; without the last one, which is infinite. */
  get cumulative(): readonly (readonly [bound: number, count: number])[] {
    let total = 0;
    return this.#bounds.map((bound, place) => {
      total += this.#counts[place] ?? 0;
      return [bound, total] as const;
    });
  }
}

export type MetricSeries = Sample | Distribution;

/** Labels as they stand between the braces; backslash, quote and line feed are escaped. */
function labelTextOf(labels: SeriesLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/g, (sign) => escapes[sign] ?? sign)}"`)
    .join(',');
}

const escapes: SeriesLabels = { '"': '\\"', '\\': '\\\\', '\n': '\\n' };
