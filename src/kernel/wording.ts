import { singleLine } from './text.ts';

// How errors name what was written, what was probably meant, and where it is.

/** The keys and positions that lead to a value. */
export type ErrorPath = readonly PropertyKey[];

/** ` (did you mean "every"?)` if one of the names is near, otherwise nothing. */
export function suggestion(written: string, names: Iterable<string>): string {
  const name = nearest(written, names);
  return name === null ? '' : ` (did you mean "${name}"?)`;
}

/** The name that was probably meant, or null. Case does not matter. */
export function nearest(written: string, names: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const edits = editsBetween(written.toLowerCase(), name.toLowerCase());
    if (edits < least && edits <= Math.ceil(Math.max(written.length, name.length) / 3)) [best, least] = [name, edits];
  }
  return best;
}

// Letters in another order are one slip of the fingers, however many edits it takes to undo it.
function editsBetween(a: string, b: string): number {
  return lettersOf(a) === lettersOf(b) ? 1 : levenshtein(a, b);
}

function levenshtein(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[b.length] ?? 0;
}

const lettersOf = (text: string) => text.split('').toSorted().join('');

/** `"a", "b" or 4`. */
export function alternatives(values: readonly unknown[]): string {
  const quoted = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

/** `targets.shop.notify[0]`. */
export function formatPath(path: ErrorPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return `${index === 0 ? '' : '.'}${singleLine(String(part), 80)}`;
    })
    .join('');
}
