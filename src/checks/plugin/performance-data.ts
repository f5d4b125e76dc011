import { singleLine } from '#kernel/text.ts';
import type { MeasuredValue } from '../measured-value.ts';
import { parseThresholdRange } from '../threshold-range.ts';

const mostValues = 50;
const item = /\s*(?:'((?:[^']|'')*)'|([^\s'=][^\s=]*))=(\S*)/y;
const rest = /\s*\S+/y;
const figure = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?|U)([^\d\s;'"=]{0,16})$/;

/**
 * The performance data of a plugin: `'label'=value[UOM];[warn];[crit];[min];[max]`, separated by white space (Monitoring Plugins
 * Development Guidelines, "Performance data"). What cannot be read, or is too much, is counted.
 */
export function parsePerformanceData(text: string): {
  readonly values: readonly MeasuredValue[];
  readonly omitted: number;
} {
  const values = new Map<string, MeasuredValue>();
  let omitted = 0;
  for (let at = 0; ;) {
    item.lastIndex = at;
    const match = item.exec(text);
    rest.lastIndex = at;
    const skipped = match ?? rest.exec(text);
    if (skipped === null) break;
    at += skipped[0].length;
    const value = match === null ? null : valueOf(match[1]?.replaceAll("''", "'") ?? match[2] ?? '', match[3] ?? '');
    if (value === null || values.has(value.label) || values.size >= mostValues) omitted += 1;
    else values.set(value.label, value);
  }
  return { values: [...values.values()], omitted };
}

function valueOf(written: string, data: string): MeasuredValue | null {
  const [number = '', warning, critical, min, max] = data.split(';');
  const match = figure.exec(number);
  const label = singleLine(written, 64);
  if (match === null || label === '') return null;
  const [, digits = 'U', unit = ''] = match;
  const value = digits === 'U' ? null : Number(digits);
  if (value !== null && !Number.isFinite(value)) return null;
  return {
    label,
    value,
    unit: singleLine(unit, 16),
    warning: rangeOf(warning),
    critical: rangeOf(critical),
    min: numberOf(min),
    max: numberOf(max),
  };
}

function rangeOf(text = ''): string | null {
  return text.length <= 64 && parseThresholdRange(text) !== null ? text : null;
}

function numberOf(text = ''): number | null {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}
