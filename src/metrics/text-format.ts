import { onceFor } from '#kernel/once-for.ts';
import type { FamilyHead } from './register.ts';
import { Distribution, type MetricSeries } from './series.ts';

/** Writes metrics in one of the formats that Prometheus reads. */
export interface Format {
  readonly contentType: string;
  /** Some series of a family: `isFirst` if none of it was written before. Those for which `isNew` says so are shown at 0. */
  write(
    family: FamilyHead,
    series: readonly MetricSeries[],
    options: { readonly isFirst: boolean; readonly isNew: (series: MetricSeries) => boolean },
  ): string | Uint8Array;
  /** What stands at the end. */
  readonly end: string;
}

/** Prometheus' own text format, the default. */
export const plainText: Format = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  write(family, series, { isFirst, isNew }) {
    const { name, help, type } = family;
    const head = isFirst ? `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` : '';
    return head + linesOf(family, series, isNew);
  },
  end: '',
};

/** OpenMetrics, in which a counter's family is called without `_total`. */
export const openMetrics: Format = {
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  write(family, series, { isFirst, isNew }) {
    const name = family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
    const head = isFirst ? `# TYPE ${name} ${family.type}\n# HELP ${name} ${family.help.replaceAll('"', '\\"')}\n` : '';
    return head + linesOf(family, series, isNew);
  },
  end: '# EOF\n',
};

function linesOf(
  family: FamilyHead,
  series: readonly MetricSeries[],
  isNew: (series: MetricSeries) => boolean,
): string {
  let text = '';
  for (const one of series) {
    if (one instanceof Distribution) text += histogramLines(family.name, one, isNew(one));
    else if (one.value !== null) text += line(family.name, one.labelText, isNew(one) ? 0 : one.value);
  }
  return text;
}

function histogramLines(name: string, distribution: Distribution, isNew: boolean): string {
  const { labelText, bounds, counts, sum, count } = distribution;
  const rest = labelText === '' ? '} ' : `,${labelText}} `;
  let text = '';
  let below = 0;
  let index = 0;
  for (const bucket of bucketTexts(bounds)) {
    below += counts[index] ?? 0;
    index += 1;
    text += `${name}${bucket}${rest}${isNew ? 0 : below}\n`;
  }
  text += `${name}_bucket{le="+Inf"${rest}${isNew ? 0 : count}\n`;
  text += line(`${name}_sum`, labelText, isNew ? 0 : sum);
  return text + line(`${name}_count`, labelText, isNew ? 0 : count);
}

function line(name: string, labelText: string, value: number): string {
  return labelText === '' ? `${name} ${numberText(value)}\n` : `${name}{${labelText}} ${numberText(value)}\n`;
}

// All series of a metric have the same bounds.
const bucketTexts = onceFor((bounds: readonly number[]) => bounds.map((bound) => `_bucket{le="${boundText(bound)}"`));

// OpenMetrics wants `1.0`. It is so in both formats, so that the series are the same whichever is asked for.
function boundText(bound: number): string {
  return Number.isInteger(bound) && bound < 1e15 ? bound.toFixed(1) : numberText(bound);
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : String(value);
}
