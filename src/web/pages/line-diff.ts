export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** What makes one text the other, line by line: by the longest common subsequence, removed lines first. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    if (old !== undefined && old === fresh) {
      found.push({ kind: 'same', text: old });
      [i, j] = [i + 1, j + 1];
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      found.push({ kind: 'removed', text: old });
      i += 1;
    } else if (fresh !== undefined) {
      found.push({ kind: 'added', text: fresh });
      j += 1;
    }
  }
  return found;
}

/** The same for two texts, whatever their newlines are. */
export const lineDiff = (before: string, after: string): readonly DiffLine[] =>
  diffLines(linesOf(before), linesOf(after));

const linesOf = (text: string) => text.replaceAll(/\r\n?/g, '\n').trimEnd().split('\n');
