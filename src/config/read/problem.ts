import { distance } from 'fastest-levenshtein';
import { WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';

/** A point in a file: `order` is the file's place among the files of a run, lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly order: number;
  readonly line: number;
  readonly column: number;
}

/** A mistake in the configuration: where it is, what it is about, and what is wrong. */
export interface Problem {
  readonly place: SourcePosition;
  readonly path: ErrorPath;
  readonly message: string;
}

export type ErrorPath = readonly PropertyKey[];

/** One error for all mistakes of a run, in the order of the files, one line for each. */
export function configError(problems: readonly Problem[]): WatchpostError {
  const lines = problems.toSorted(byPlace).map(lineOf);
  return new WatchpostError('config_invalid', [...new Set(lines)].join('\n'));
}

/** ` (did you mean "every"?)` where one of the names is near, otherwise nothing. */
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
  return lettersOf(a) === lettersOf(b) ? 1 : distance(a, b);
}

const lettersOf = (text: string) => text.split('').toSorted().join('');

/** `"a", "b" or "c"`. */
export function alternatives(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
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

function byPlace(a: Problem, b: Problem): number {
  return a.place.order - b.place.order || a.place.line - b.place.line || a.place.column - b.place.column;
}

function lineOf({ place, path, message }: Problem): string {
  const about = path.length === 0 ? '' : `${formatPath(path)}: `;
  return `${place.file}:${place.line}:${place.column}: ${about}${message}`;
}
