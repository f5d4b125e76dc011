import { stripVTControlCharacters } from 'node:util';

/** Rows as lines whose columns stand under each other, without blanks at their ends. */
export function alignRows(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  );
}

// Colours take no room.
const widthOf = (cell: string) => stripVTControlCharacters(cell).length;
