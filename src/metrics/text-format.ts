import { onceFor } from '#kernel/once-for.ts';
import type { FamilyHead } from './register.ts';
import { Distribution, type MetricSeries } from './series.ts';
import { TextWriter } from './text-writer.ts';

/** Writes metrics in one of the formats that Prometheus reads. */
export interface Format {
  readonly contentType: string;
  /**
   * Some series of a family: `isFirst` if none of it was written before. Those for which `isNew` says so are shown at 0. What it gives
   * holds until more is written.
   */
  write(
    family: FamilyHead,
    series: readonly MetricSeries[],
    options: { readonly isFirst: boolean; readonly isNew: (series: MetricSeries) => boolean },
  ): Uint8Array;
  /** What stands at the end. */
  readonly end: Uint8Array;
}

/** Prometheus' own text format, the default. */
export const plainText: Format = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  write(family, series, { isFirst, isNew }) {
    const { name, help, type } = family;
    return linesOf(isFirst ? `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` : '', family, series, isNew);
  },
  end: Buffer.from(''),
};

/** OpenMetrics, in which a counter's family is called without `_total`. */
export const openMetrics: Format = {
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  write(family, series, { isFirst, isNew }) {
    const name = family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
    const help = family.help.replaceAll('"', '\\"');
    return linesOf(isFirst ? `# TYPE ${name} ${family.type}\n# HELP ${name} ${help}\n` : '', family, series, isNew);
  },
  end: Buffer.from('# EOF\n'),
};

// Each use of it ends before the next one.
const writer = new TextWriter();

function linesOf(
  head: string,
  { name }: FamilyHead,
  series: readonly MetricSeries[],
  isNew: (series: MetricSeries) => boolean,
): Uint8Array {
  // One that failed may have left something.
  writer.cut(0);
  writer.text(head);
  for (const one of series) {
    if (one instanceof Distribution) writeHistogram(name, one, isNew(one));
    else if (one.value !== null) writeLine(name, one, isNew(one) ? 0 : one.value);
  }
  return writer.take();
}

function writeHistogram(name: string, distribution: Distribution, isNew: boolean): void {
  const { bounds, counts, sum, count } = distribution;
  // What follows on the bound is the same in each line.
  let from = 0;
  let to = 0;
  let below = 0;
  let index = 0;
  for (const bucket of bucketTexts(bounds)) {
    below += counts[index++] ?? count - below;
    writer.text(name);
    writer.text(bucket);
    if (to > 0) {
      writer.again(from, to);
    } else {
      from = writer.length;
      writeRest(distribution);
      to = writer.length;
    }
    writer.number(isNew ? 0 : below);
    writer.text('\n');
  }
  writeLine(`${name}_sum`, distribution, isNew ? 0 : sum);
  writeLine(`${name}_count`, distribution, isNew ? 0 : count);
}

// The labels, if there are any, after others.
function writeRest(series: MetricSeries): void {
  const from = writer.length;
  writer.text(',');
  series.writeLabels(writer);
  if (writer.length === from + 1) writer.cut(from);
  writer.text('} ');
}

function writeLine(name: string, series: MetricSeries, value: number): void {
  writer.text(name);
  const from = writer.length;
  writer.text('{');
  series.writeLabels(writer);
  if (writer.length === from + 1) writer.cut(from);
  writer.text(writer.length > from ? '} ' : ' ');
  if (Math.abs(value) === Infinity) writer.text(value > 0 ? '+Inf' : '-Inf');
  else writer.number(value);
  writer.text('\n');
}

// All series of a metric have the same bounds; the last one is infinite.
const bucketTexts = onceFor((bounds: readonly number[]) => [
  ...bounds.map((bound) => `_bucket{le="${boundText(bound)}"`),
  '_bucket{le="+Inf"',
]);

// OpenMetrics wants `1.0`. It is so in both formats, so that the series are the same whichever is asked for.
function boundText(bound: number): string {
  return Number.isInteger(bound) && bound < 1e15 ? bound.toFixed(1) : String(bound);
}
