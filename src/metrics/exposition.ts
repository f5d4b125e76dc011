import { setImmediate as turn } from 'node:timers/promises';

// What grows with targets times nodes is kept and written here: prom-client hashes the labels on every change and formats
// every line anew on every scrape, which holds the event loop for a quarter of a second at 1,000 targets on 5 nodes.

export type Labels = Readonly<Record<string, string>>;

/** One set of labels of a family. Its holder changes it directly; empty text means that it is not exported. */
export interface Series {
  text(): string;
}

/** A counter's or a gauge's value; null while there is none to export. */
export class Sample implements Series {
  value: number | null;
  readonly #head: string;

  constructor(name: string, labels: Labels, value: number | null = null) {
    this.#head = `${name}{${labelText(labels)}} `;
    this.value = value;
  }

  text(): string {
    return this.value === null ? '' : `${this.#head}${numberText(this.value)}\n`;
  }
}

/** Counts of observations at or below each bound. */
export class Distribution implements Series {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  readonly #heads: readonly string[];
  readonly #sumHead: string;
  readonly #countHead: string;
  #sum = 0;

  constructor(name: string, labels: Labels, bounds: readonly number[]) {
    const text = labelText(labels);
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
    this.#heads = [...bounds, Infinity].map((bound) => `${name}_bucket{le="${numberText(bound)}",${text}} `);
    this.#sumHead = `${name}_sum{${text}} `;
    this.#countHead = `${name}_count{${text}} `;
  }

  observe(value: number): void {
    let place = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      place += 1;
    }
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sum += value;
  }

  text(): string {
    let text = '';
    let count = 0;
    for (const [place, head] of this.#heads.entries()) {
      count += this.#counts[place] ?? 0;
      text += `${head}${count}\n`;
    }
    return `${text}${this.#sumHead}${numberText(this.#sum)}\n${this.#countHead}${count}\n`;
  }
}

/** A metric with all its series, in the order in which they came. */
export class Family<S extends Series = Sample> {
  readonly #series = new Set<S>();
  readonly #create: (labels: Labels) => S;
  readonly header: string;

  constructor(type: 'counter' | 'gauge' | 'histogram', name: string, help: string, create: (labels: Labels) => S) {
    this.header = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    this.#create = create;
  }

  add(labels: Labels): S {
    const series = this.#create(labels);
    this.#series.add(series);
    return series;
  }

  remove(series: S): void {
    this.#series.delete(series);
  }

  [Symbol.iterator](): Iterator<S> {
    return this.#series.values();
  }
}

/** A gauge whose series show nothing until they have a value. */
export function gaugeFamily(name: string, help: string): Family {
  return new Family('gauge', name, help, (labels) => new Sample(name, labels));
}

/** A counter whose series start at 0. */
export function counterFamily(name: string, help: string): Family {
  return new Family('counter', name, help, (labels) => new Sample(name, labels, 0));
}

export function histogramFamily(name: string, help: string, bounds: readonly number[]): Family<Distribution> {
  return new Family('histogram', name, help, (labels) => new Distribution(name, labels, bounds));
}

const seriesPerSlice = 200;

/**
 * The families in Prometheus' text format (version 0.0.4). Other work gets its turn after every 200 series; each series is
 * consistent in itself.
 */
export async function exposition(families: readonly Family<Series>[]): Promise<string> {
  let text = '';
  let written = 0;
  for (const family of families) {
    text += family.header;
    for (const series of family) {
      text += series.text();
      written += 1;
      if (written % seriesPerSlice === 0) await turn();
    }
  }
  return text;
}

/** Labels as they stand between the braces; backslash, quote and line feed are escaped. */
function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/g, (sign) => escapes[sign] ?? sign)}"`)
    .join(',');
}

const escapes: Labels = { '"': '\\"', '\\': '\\\\', '\n': '\\n' };

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
