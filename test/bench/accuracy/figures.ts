/** How far off a method was, in milliseconds. */
export interface Figures {
  readonly samples: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Errors of round trips in milliseconds against the delay that is known. */
export function figuresOf(roundTripsMs: readonly number[], knownMs: number): Figures {
  const errors = roundTripsMs.map((ms) => Math.abs(ms - knownMs)).toSorted((one, other) => one - other);
  const at = (share: number) => errors[Math.min(Math.ceil(errors.length * share), errors.length) - 1] ?? Number.NaN;
  return { samples: errors.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

export type Row = readonly [name: string, ...cells: (Figures | string)[]];

/** A table for people: a row per method, three columns per condition, or the reason why there is nothing. */
export function formatTable(conditions: readonly string[], rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  const numbers = (texts: readonly string[]) => texts.map((text) => text.padStart(9)).join('');
  const lines = [
    `${''.padEnd(width)}${conditions.map((condition) => `  ${condition.padStart(30)}`).join('')}`,
    `${''.padEnd(width)}${conditions.map(() => `     ${numbers(['p50', 'p99', 'max'])}`).join('')}`,
    ...rows.map(([name, ...cells]) => {
      const texts = cells.map((cell) =>
        typeof cell === 'string'
          ? `     ${cell.padEnd(27)}`
          : `     ${numbers([cell.p50, cell.p99, cell.max].map((ms) => ms.toFixed(3)))}`,
      );
      return `${name.padEnd(width)}${texts.join('')}`;
    }),
  ];
  return lines.join('\n');
}
