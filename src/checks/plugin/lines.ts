import type { MeasuredValue } from '../measured-value.ts';
import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** What the plugin said, and its performance data. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { state, text, more, values, omitted } = detail;
  return [
    `state        ${state}`,
    ...(text === '' ? [] : [`said         ${text}`]),
    ...more.map((line) => `             ${line}`),
    ...values.map((one) => `value        ${one.label}  ${figureOf(one)}${limitsOf(one)}`),
    ...(omitted === 0 ? [] : [`value        ${omitted} more, or not readable`]),
  ];
}

export function figureOf({ value, unit }: MeasuredValue): string {
  return value === null ? 'unknown' : `${value}${unit}`;
}

function limitsOf({ warning, critical }: MeasuredValue): string {
  const said = [
    ...(warning === null ? [] : [`warning ${warning}`]),
    ...(critical === null ? [] : [`critical ${critical}`]),
  ];
  return said.length === 0 ? '' : `  (${said.join(', ')})`;
}
