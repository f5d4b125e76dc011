/** The values that raise an alert: those outside the bounds, which belong to the range themselves, or those inside. */
export interface ThresholdRange {
  readonly from: number;
  readonly to: number;
  readonly alertsInside: boolean;
}

const number = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?`;
const form = new RegExp(`^(@)?(?:(~|${number})?:)?(${number})?$`);

/**
 * A range as plugins write it: `10`, `10:`, `~:10`, `10:20`, `@10:20` (Monitoring Plugins Development Guidelines, "Threshold and
 * Ranges"). Null if it is none.
 */
export function parseThresholdRange(text: string): ThresholdRange | null {
  const match = form.exec(text);
  if (match === null || !/\d/.test(text)) return null;
  const [, at, start, end] = match;
  const from = start === '~' ? -Infinity : Number(start ?? 0);
  const to = end === undefined ? Infinity : Number(end);
  return from <= to ? { from, to, alertsInside: at !== undefined } : null;
}

export function isAlerting(value: number, { from, to, alertsInside }: ThresholdRange): boolean {
  return (value >= from && value <= to) === alertsInside;
}
