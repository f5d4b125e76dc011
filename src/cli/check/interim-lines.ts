import { checkOf, type CheckSpec, unfinishedOutcome } from '#checks/index.ts';
import { singleCells } from '../shared/live-table.ts';
import type { CommandContext } from '../shared/command-context.ts';

/** What a check has measured so far, on a terminal. */
export interface InterimLines {
  show(detail: unknown): void;
  /** Removes the lines, for the outcome to take their place. */
  clear(): void;
}

// For the first line, and the line of the cursor.
const otherLines = 2;

/** Lines that are drawn again with each interim result; the last ones if the terminal has too few rows. */
export function createInterimLines(
  spec: CheckSpec,
  { columns, rows, print }: Pick<CommandContext, 'columns' | 'rows' | 'print'>,
): InterimLines {
  let drawn = 0;
  const above = () => (drawn === 0 ? '' : `\u{1b}[${drawn}A\u{1b}[J`);
  return {
    show(detail) {
      const found = checkOf(spec.type).lines(unfinishedOutcome(detail));
      const shown = found.slice(-Math.max(rows - otherLines, 1)).map((line) => `  ${line}`);
      const lines = [`${spec.type} ${spec.host}`, ...shown].map((line) => `${singleCells(line, columns)}\n`);
      print(`${above()}${lines.join('')}`);
      drawn = lines.length;
    },
    clear() {
      print(above());
      drawn = 0;
    },
  };
}
