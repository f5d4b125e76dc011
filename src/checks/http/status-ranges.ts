/** Status codes from `from` to `to`, both included. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

export function inRanges(status: number, ranges: readonly StatusRange[]): boolean {
  return ranges.some(({ from, to }) => status >= from && status <= to);
}

/** The ranges in words: `200-299 or 301`. */
export function describeRanges(ranges: readonly StatusRange[]): string {
  return ranges.map(formatRange).join(' or ');
}

/** A range as it is written. */
export function formatRange({ from, to }: StatusRange): string | number {
  return from === to ? from : `${from}-${to}`;
}
